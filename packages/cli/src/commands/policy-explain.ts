import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { required } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import { consideredText } from '../policy/considered-text.ts';

type Result = RouteOutput<Routes['explainDecision']>['results'][number];

const resultColumns: readonly Column<Result>[] = [
  { title: 'RESULT', value: ({ effect }) => effect },
  { title: 'AT', value: ({ at }) => at },
  { title: 'RULE', value: ({ policy_rule: rule }) => rule, importance: 'major' },
  { title: 'LABELS', value: ({ labels }) => labels.join(', ') },
  { title: 'WHY', value: ({ reason }) => reason, isFlexible: true },
];

export const policyExplainCommand = defineCommand({
  details: [
    'Needs the scope read. Why an operation was decided as it was, with every rule that was considered and why it matched or did not, and what became of its results. The gateway judges it again by the policies of that time. The notes say what the log does not keep.',
    'Data: as GET /api/v1/decisions/{id}/explain.',
  ],
  args: { op: required('trace:span, or org/team/agent/trace:span if that is ambiguous.', 'op') },
  options: {},
  examples: [['reeve policy explain t1:s1', 'which rule decided, and which did not match']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const answer = await client.call('explainDecision', { params: { id: input.args.op } });
    print(shell, input.globals.output, answer, () =>
      [
        renderRecord([
          ['Operation', answer.op_id],
          ['Decision', answer.decision],
          ['Reason', answer.reason],
          ['Rule', answer.policy_rule],
          ['Rewritten arguments', answer.rewritten_args === null ? null : JSON.stringify(answer.rewritten_args)],
          ['Judge result', answer.judge_result ? 'yes' : 'no'],
          ['Policy', answer.policy_version],
          ['At', answer.at],
        ]),
        consideredText(shell, answer.rules),
        ...(answer.results.length === 0 ? [] : [tableText(shell, resultColumns, answer.results)]),
        ...answer.notes.map((note) => cleanText(`Note: ${note}`)),
      ].join('\n\n'),
    );
    return 0;
  },
});
