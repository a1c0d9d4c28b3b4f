import type { RouteOutput, Routes } from '@reeve/contract/http';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, flag, number, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import { usdText } from '../output/usd.ts';
import { consideredText } from '../policy/considered-text.ts';
import { readCandidate } from '../policy/offline.ts';
import { requestFromFile, requestFromFlags } from '../policy/simulated-request.ts';
import { opFilters } from './op-filters.ts';

const actions = [
  'llm_call',
  'tool_call',
  'file_operation',
  'network_call',
  'process_exec',
  'agent_spawn',
  'tool_result',
] as const;

type Terms = NonNullable<RouteOutput<Routes['simulatePolicy']>['approvals']>;
type Result = NonNullable<RouteOutput<Routes['simulatePolicy']>['result']>;

export const policySimulateCommand = defineCommand({
  details: [
    'Needs the scope read. The answer that a check would get by the policies in force, or by a candidate. With --result, what the call brings back is judged as well. Nothing is recorded or charged. The candidate stands alone; with --merge it joins what is in force, in place of the documents of the same names.',
    'Data: {decision, reason, policy_rule, policy_version, cost_micros, price, approvals, rewritten_args, masks_prompt, labels, judge_result, result, rules}, as POST /api/v1/policies/simulate. With --expect it ends with 1 if the decision is another.',
  ],
  args: {},
  options: {
    agent: text('ORG/TEAM/AGENT', 'Who asks, with "-" for an empty org or team.', { completes: 'agent' }),
    action: choice(actions, 'The type of the action. Default: the one that the other options imply.'),
    tool: text('NAME', 'The tool.'),
    args: text('JSON', 'The arguments of the tool, or the list of those of the command.'),
    annotations: text('JSON', 'What the server of the tool says of it, such as {"readOnlyHint": true}.'),
    url: text('URL', 'Where the tool reaches.'),
    model: text('NAME', 'The model.'),
    inputTokens: number('N', 'Tokens of the prompt.', { min: 0, max: 1e9 }),
    outputTokens: number('N', 'Tokens of the answer at most.', { min: 0, max: 1e9 }),
    host: text('HOST', 'The host of a network call.'),
    port: number('PORT', 'Its port.', { min: 0, max: 65_535 }),
    path: text('PATH', 'The path of a file operation.'),
    operation: text('NAME', 'What is done to the file, such as read.'),
    command: text('COMMAND', 'The command of a process.'),
    cost: text('USD', 'What the action costs, as the agent would estimate it.'),
    user: text('USER', 'For whom: an email, or JSON such as {"sub": "u-1", "groups": ["staff"]}.'),
    run: opFilters.run,
    result: text('TEXT', 'What the call brings back: JSON, or any text. Rules on results judge it.'),
    request: text('FILE', 'The whole request in JSON or YAML instead; "-" for standard input.', { completes: 'file' }),
    candidate: text('PATH', 'Policies to try: a file, or a folder of them.', { completes: 'file' }),
    merge: flag('The candidate joins what is in force.'),
    expect: choice(['allow', 'deny', 'pending'], 'End with 1 unless this is the decision.'),
  },
  examples: [
    ['reeve policy simulate --agent acme/support/bot --tool search', 'what is in force'],
    [
      `reeve policy simulate --agent acme/pay/bot --tool pay --args '{"amount": 20}' --candidate policies`,
      'what would be',
    ],
    [
      `reeve policy simulate --agent acme/support/bot --tool read --result '{"mail": "ann@acme.example"}'`,
      'what the model would read of a result',
    ],
    ['reeve policy simulate --request request.json --candidate new.yaml --merge', 'with one document changed'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    if (options.merge && options.candidate === undefined) throw new UsageError('--merge needs a --candidate');
    const request =
      options.request === undefined ? requestFromFlags(options) : await requestFromFile(shell, options.request);
    const candidate =
      options.candidate === undefined
        ? {}
        : { candidate: await readCandidate(options.candidate), merge: options.merge };
    const client = await connect(shell, input);
    const answer = await client.call('simulatePolicy', { body: { ...request, ...candidate } });
    print(shell, globals.output, answer, () =>
      [
        renderRecord([
          ['Decision', answer.decision],
          ['Reason', answer.reason],
          ['Rule', answer.policy_rule],
          ['Approvals', answer.approvals === null ? null : termsText(answer.approvals)],
          ['Rewritten arguments', answer.rewritten_args === null ? null : JSON.stringify(answer.rewritten_args)],
          ['Prompt', answer.masks_prompt ? 'masked before its provider sees it' : null],
          ['Labels', answer.labels.length === 0 ? null : answer.labels.join(', ')],
          ['Judge result', answer.judge_result ? 'yes' : 'no'],
          ['Cost', `${usdText(answer.cost_micros)} USD${answer.price === null ? '' : ` (price ${answer.price})`}`],
          ['Policy', answer.policy_version],
        ]),
        consideredText(shell, answer.rules),
        ...(answer.result === null ? [] : [resultText(answer.result), consideredText(shell, answer.result.rules)]),
      ].join('\n\n'),
    );
    return options.expect === undefined || options.expect === answer.decision ? 0 : 1;
  },
});

function resultText({ effect, reason, policy_rule: rule, masked, counts, labels }: Result): string {
  const found = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return renderRecord([
    ['Result', effect],
    ['Reason', reason],
    ['Rule', rule],
    ['Masked', masked],
    ['Found', found.length === 0 ? null : found.join(', ')],
    ['Labels', labels.length === 0 ? null : labels.join(', ')],
  ]);
}

function termsText({ count, ttl_secs: secs, grants, rules }: Terms): string {
  const who = count === 1 ? 'one person' : `${count} people`;
  const asked = rules.length > 1 ? `; asked by ${rules.join(', ')}` : '';
  return `${who} within ${secs} s, ${grants ? 'may be granted for longer' : 'for this once only'}${asked}`;
}
