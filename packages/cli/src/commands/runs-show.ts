import type { RouteOutput, Routes } from '@reeve/contract/http';
import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import { runText } from './runs.ts';

type RunDetails = RouteOutput<Routes['getRun']>;

export const runsShowCommand = defineCommand({
  details: [
    'Needs the scope read. One run: its labels, with the operation that gave each, and its operations in order, ended ones too. Data: as GET /api/v1/runs/{run_id}.',
  ],
  args: { run: required('The id of the run; "-" for the run of an agent that sends none, with --agent.') },
  options: {
    org: text('ORG', 'The org of the run. Default: that of the credential, or none.', { aliases: ['org-id'] }),
    team: text('TEAM', 'The team of the run. Default: that of the credential, or none.', { aliases: ['team-id'] }),
    agent: text('AGENT', 'The agent whose run "-" stands for.', { aliases: ['agent-id'] }),
    ...pageOptions,
  },
  examples: [
    ['reeve runs show nightly-42 --org acme --team support', 'what it did, and which labels it bears'],
    ['reeve runs show - --agent bot --org acme --team support', 'the run of an agent that sends no ids'],
  ],
  run: async (input, shell) => {
    const { org, team, agent } = input.options;
    const client = await connect(shell, input);
    let run: RunDetails | undefined;
    const page = await readPages(input.options, async (paging) => {
      run = await client.call('getRun', {
        params: { run_id: input.args.run },
        query: { org_id: org, team_id: team, agent_id: agent, ...paging },
      });
      return { ...run.operations, total: run.checks };
    });
    if (run === undefined) return 1;
    const shown = { ...run, operations: { items: [...page.items], next_cursor: page.next_cursor } };
    print(shell, input.globals.output, shown, () => runDetailsText(shown));
    return 0;
  },
});

function runDetailsText(run: RunDetails): string {
  const record = renderRecord([
    ['Run', runText(run)],
    ['Org', run.org_id],
    ['Team', run.team_id],
    ['State', run.state],
    ['Agents', run.agents.join(', ')],
    ['Checks', `${run.checks}, of which ${run.denied} were denied`],
    ['Cost', `${run.cost_usd} USD`],
    ['Started', run.started_at],
    ['Last', run.last_at],
  ]);
  const labels = [
    ...run.labels.map((label) => ({ ...label, of: '' })),
    ...run.agent_labels.map((label) => ({ ...label, of: ` (of ${label.agent_id}, in all its runs)` })),
  ].map(({ name, since, op_id: op, policy_rule: rule, of }) =>
    cleanText(`  ${name}${of}  since ${since}, operation ${op}, rule ${rule}`),
  );
  const operations = run.operations.items.map((op) =>
    cleanText(`  ${op.at}  ${op.decision}  ${op.action_type} ${op.resource}  ${agentText(op.agent)}  ${op.op_id}`),
  );
  const part = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [[title, ...lines].join('\n')]);
  return [record, ...part('Labels:', labels), ...part('Operations:', operations)].join('\n\n');
}
