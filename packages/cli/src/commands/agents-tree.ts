import { agentPath, agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { optional, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { print } from '../output/print.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import type { Placed, TopologyAgent } from './placed-agents.ts';
import { placed } from './placed-agents.ts';

const columns: readonly Column<Placed>[] = [
  { title: 'AGENT', value: ({ agent, branch }) => `${branch}${agentText(agent)}` },
  {
    title: 'STATUS',
    value: ({ agent }) => agent.status,
    colour: ({ agent }) => (agent.status === 'active' ? 'green' : 'yellow'),
    importance: 'major',
  },
  { title: 'IN FLIGHT', value: ({ agent }) => agent.in_flight, isRight: true, importance: 'minor' },
  { title: 'ACTS FOR', value: ({ agent }) => agent.delegation?.by.agent_id ?? '', importance: 'major' },
  { title: 'LIMITS', value: ({ agent }) => limitsText(agent), isFlexible: true },
  { title: 'UNTIL', value: ({ agent }) => agent.delegation?.expires_at ?? '', isTime: true },
];

/** What a delegate may do at most, and what is used of it. An older gateway does not say. */
function limitsText({ delegation }: Partial<TopologyAgent>): string {
  if (delegation === undefined || delegation === null) return '';
  const { actions, tools, max_cost_usd: most, spent_usd: spent, max_checks: checks, checks: made } = delegation;
  return [
    checks === null ? [] : [`${made} of ${checks} checks`],
    most === null ? [] : [`${spent} of ${most} USD`],
    actions.length === 0 ? [] : [actions.join(', ')],
    tools.length === 0 ? [] : [`tools ${tools.join(', ')}`],
  ]
    .flat()
    .join('; ');
}

export const agentsTreeCommand = defineCommand({
  details: [
    'Needs the scope read. Each agent is listed below its parent, with whom it acts for and within which limits. Data: as GET /api/v1/topology/overview, or of one agent as GET /api/v1/topology/tree.',
  ],
  args: {
    agent: optional('ORG/TEAM/AGENT, with "-" for an empty org or team. Only this one and those below it.', 'agent'),
  },
  options: { org: text('ORG', 'Only this org.', { aliases: ['org-id'] }) },
  examples: [
    ['reeve agents tree', 'who works below whom'],
    ['reeve agents tree acme/support/lead', 'one agent and those below it'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const { agent } = input.args;
    const query = { org_id: input.options.org };
    if (agent === undefined) {
      const overview = await client.call('topologyOverview', { query });
      print(shell, input.globals.output, overview, () => treeText(overview.agents));
    } else {
      const tree = await client.call('topologyTree', { params: agentPath(agent), query });
      print(shell, input.globals.output, tree, () => treeText(agentsIn(tree as Tree)));
    }
    return 0;

    function treeText(agents: readonly TopologyAgent[]): string {
      return agents.length === 0 ? 'No agents.' : tableText(shell, columns, placed(agents));
    }
  },
});

interface Tree {
  readonly agent: TopologyAgent;
  readonly children: readonly Tree[];
}

function agentsIn({ agent, children }: Tree): TopologyAgent[] {
  return [agent, ...children.flatMap(agentsIn)];
}
