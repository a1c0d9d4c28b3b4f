import type { RouteOutput, Routes } from '@reeve/contract/http';
import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import { runText } from './runs.ts';

type RunDetails = RouteOutput<Routes['getRun']>;
type Label = RunDetails['labels'][number] & Partial<RunDetails['agent_labels'][number]>;

const labelColumns: readonly Column<Label>[] = [
  { title: 'LABEL', value: ({ name }) => name },
  { title: 'OPERATION', value: ({ op_id: op }) => op, importance: 'major' },
  { title: 'RULE', value: ({ policy_rule: rule }) => rule, isFlexible: true },
  { title: 'SINCE', value: ({ since }) => since, isTime: true },
  { title: 'IN ALL RUNS OF', value: ({ agent_id: agent }) => agent },
];

const operationColumns: readonly Column<RunDetails['operations']['items'][number]>[] = [
  { title: 'OPERATION', value: ({ op_id: op }) => op },
  { title: 'DECISION', value: ({ decision }) => decision, importance: 'major' },
  { title: 'ACTION', value: ({ action_type: type }) => type },
  { title: 'RESOURCE', value: ({ resource }) => resource, isFlexible: true, importance: 'major' },
  { title: 'AGENT', value: ({ agent }) => agentText(agent), importance: 'minor' },
  { title: 'AT', value: ({ at }) => at, isTime: true },
];

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
    print(shell, input.globals.output, shown, () => runDetailsText(shell, shown));
    return 0;
  },
});

function runDetailsText(shell: Shell, run: RunDetails): string {
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
  const labels: readonly Label[] = [...run.labels, ...run.agent_labels];
  const operations = run.operations.items;
  const parts = [
    record,
    ...(labels.length === 0 ? [] : [`Labels:\n${tableText(shell, labelColumns, labels)}`]),
    ...(operations.length === 0 ? [] : [`Operations:\n${tableText(shell, operationColumns, operations)}`]),
  ];
  return parts.join('\n\n');
}
