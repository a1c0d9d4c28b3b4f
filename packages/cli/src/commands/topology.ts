import type { RouteOutput, Routes } from '@reeve/contract/http';
import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { counted } from '../output/duration.ts';
import { print } from '../output/print.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import type { Placed } from './placed-agents.ts';
import { placed } from './placed-agents.ts';

type Overview = RouteOutput<Routes['topologyOverview']>;

const columns: readonly Column<Placed>[] = [
  { title: 'AGENT', value: ({ agent, branch }) => `${branch}${agentText(agent)}` },
  { title: 'NAME', value: ({ agent }) => agent.name, isFlexible: true, importance: 'minor' },
  {
    title: 'STATUS',
    value: ({ agent }) => agent.status,
    colour: ({ agent }) => (agent.status === 'active' ? 'green' : 'yellow'),
  },
  { title: 'IN FLIGHT', value: ({ agent }) => agent.in_flight, isRight: true },
  { title: 'FRAMEWORK', value: ({ agent }) => agent.framework, isFlexible: true, importance: 'minor' },
  { title: 'LAST SEEN', value: ({ agent }) => agent.last_seen_at, isTime: true },
  { title: 'SPENT TODAY', value: ({ agent }) => agent.spent_today_usd, isRight: true },
];

export const topologyCommand = defineCommand({
  details: [
    'Needs the scope read. Each agent is listed below its parent. Data: {orgs, teams, agents, totals}, as GET /api/v1/topology/overview.',
  ],
  args: {},
  options: { org: text('ORG', 'Only this org.', { aliases: ['org-id'] }) },
  examples: [
    ['reeve topology', 'orgs, teams and agents'],
    ['reeve topology --org acme', 'those of one org'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const overview = await client.call('topologyOverview', { query: { org_id: input.options.org } });
    print(shell, input.globals.output, overview, () => overviewText(shell, overview));
    return 0;
  },
});

function overviewText(shell: Shell, { orgs, teams, agents, totals }: Overview): string {
  const summary = [
    counted(totals.orgs, 'org'),
    counted(totals.teams, 'team'),
    counted(totals.agents, 'agent'),
    `${counted(totals.in_flight, 'operation')} in flight`,
  ].join(', ');
  if (agents.length === 0) return summary;
  const orgColumns: readonly Column<Overview['orgs'][number]>[] = [
    { title: 'ORG', value: (org) => org.org_id },
    { title: 'TEAMS', value: (org) => org.teams, isRight: true },
    { title: 'AGENTS', value: (org) => org.agents, isRight: true },
    { title: 'IN FLIGHT', value: (org) => org.in_flight, isRight: true },
  ];
  const teamColumns: readonly Column<Overview['teams'][number]>[] = [
    { title: 'ORG', value: (team) => team.org_id },
    { title: 'TEAM', value: (team) => team.team_id },
    { title: 'AGENTS', value: (team) => team.agents, isRight: true },
    { title: 'IN FLIGHT', value: (team) => team.in_flight, isRight: true },
  ];
  return [
    summary,
    tableText(shell, orgColumns, orgs),
    tableText(shell, teamColumns, teams),
    tableText(shell, columns, placed(agents)),
  ].join('\n\n');
}
