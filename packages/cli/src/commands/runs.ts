import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { choice, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';

export type Run = RouteOutput<Routes['listRuns']>['items'][number];

const columns: readonly Column<Run>[] = [
  { title: 'RUN', value: runText },
  { title: 'ORG', value: ({ org_id: org }) => org, importance: 'minor' },
  { title: 'TEAM', value: ({ team_id: team }) => team, importance: 'minor' },
  { title: 'STATE', value: ({ state }) => state, importance: 'major' },
  { title: 'LABELS', value: ({ labels }) => labels.map(({ name }) => name).join(' '), isFlexible: true },
  { title: 'AGENTS', value: ({ agents }) => agents.join(' ') },
  { title: 'CHECKS', value: ({ checks }) => String(checks), isRight: true },
  { title: 'DENIED', value: ({ denied }) => String(denied), isRight: true },
  { title: 'COST USD', value: ({ cost_usd: cost }) => cost, isRight: true },
  { title: 'LAST', value: ({ last_at: at }) => at, isTime: true, importance: 'major' },
];

/** How a run is named on a command line. */
export function runText({ run_id: id, agent_id: agent }: Pick<Run, 'run_id' | 'agent_id'>): string {
  return id === '' ? `- (of ${agent ?? ''})` : id;
}

export const runsCommand = defineCommand({
  details: [
    'Needs the scope read. The runs that are remembered, those that began last first, with the labels that they bear. Data: {items, next_cursor, total}, as GET /api/v1/runs.',
  ],
  args: {},
  options: {
    org: text('ORG', 'Only runs of this org.', { aliases: ['org-id'] }),
    team: text('TEAM', 'Only runs of this team.', { aliases: ['team-id'] }),
    agent: text('AGENT', 'Only runs that this agent is in.', { aliases: ['agent-id'] }),
    label: text('LABEL', 'Only runs that bear this label.'),
    state: choice(['active', 'held', 'ended'], 'Only those.'),
    user: text('USER', 'Only runs in which agents acted for this user, by email or sub.'),
    minCost: text('USD', 'Only runs that cost at least this, such as 0.50.'),
    maxCost: text('USD', 'Only runs that cost at most this.'),
    ...pageOptions,
  },
  examples: [
    ['reeve runs', 'what has run lately'],
    ['reeve runs --label mail.read --state active', 'what has read mail, and is under way'],
    ['reeve runs --user ann@example.com --min-cost 1', 'what was dear among what agents did for one person'],
  ],
  run: async (input, shell) => {
    const { org, team, agent, label, state, user, minCost, maxCost } = input.options;
    const client = await connect(shell, input);
    const costs = { min_cost_usd: minCost, max_cost_usd: maxCost };
    const query = { org_id: org, team_id: team, agent_id: agent, label, state, user, ...costs };
    const page = await readPages(input.options, (paging) =>
      client.call('listRuns', { query: { ...query, ...paging } }),
    );
    printList(shell, input.globals, page, columns, 'No runs.');
    return 0;
  },
});
