import type { RouteOutput, Routes } from '@reeve/contract/http';
import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';

type Agent = RouteOutput<Routes['listAgents']>['items'][number];

const columns: readonly Column<Agent>[] = [
  { title: 'AGENT', value: agentText },
  { title: 'NAME', value: ({ name }) => name, isFlexible: true, importance: 'minor' },
  {
    title: 'STATUS',
    value: ({ status }) => status,
    colour: ({ status }) => (status === 'active' ? 'green' : 'yellow'),
    importance: 'major',
  },
  { title: 'IN FLIGHT', value: ({ in_flight: count }) => count, isRight: true },
  {
    title: 'FRAMEWORK',
    value: ({ framework, version }) => `${framework} ${version}`.trim(),
    isFlexible: true,
    importance: 'minor',
  },
  { title: 'PARENT', value: ({ parent }) => (parent === null ? '' : agentText(parent)), importance: 'minor' },
  { title: 'DEPTH', value: ({ depth }) => depth, isRight: true, importance: 'minor' },
  { title: 'DOORS', value: doorsText, isFlexible: true },
  { title: 'NOT COVERED', value: uncoveredText, colour: () => 'yellow', importance: 'major' },
  { title: 'LAST SEEN', value: ({ last_seen_at: at }) => at, isTime: true, importance: 'major' },
  { title: 'SPENT TODAY', value: ({ spent_today_usd: spent }) => spent, isRight: true },
  { title: 'SUSPENDED BECAUSE', value: ({ suspended_reason: reason }) => reason, isFlexible: true },
];

/** By which doors its checks come, and through whom. An older gateway does not say. */
function doorsText({ doors }: Partial<Agent>): string {
  return (doors ?? [])
    .map(({ door, names }) => (names.length === 0 ? door : `${door} (${names.join(', ')})`))
    .join(', ');
}

const uncoveredNames = { tools: 'tools', model_calls: 'model calls' } as const;

/** What was never checked, though the rest is. */
function uncoveredText({ uncovered }: Partial<Agent>): string {
  return (uncovered ?? []).map((family) => uncoveredNames[family]).join(', ');
}

export const agentsListCommand = defineCommand({
  details: ['Needs the scope read. Data: {items, next_cursor, total}, as GET /api/v1/agents.'],
  args: {},
  options: {
    org: text('ORG', 'Only of this org.', { aliases: ['org-id'] }),
    team: text('TEAM', 'Only of teams of this name.', { aliases: ['team-id'] }),
    status: choice(['active', 'suspended'], 'Only those.'),
    ...pageOptions,
  },
  examples: [
    ['reeve agents list', 'the registered agents'],
    ['reeve agents list --status suspended', 'those that are suspended, and why'],
  ],
  run: async (input, shell) => {
    const { org, team, status } = input.options;
    const client = await connect(shell, input);
    const page = await readPages(input.options, (query) =>
      client.call('listAgents', { query: { ...query, org_id: org, team_id: team, status } }),
    );
    printList(shell, input.globals, page, columns, 'No agents.');
    return 0;
  },
});
