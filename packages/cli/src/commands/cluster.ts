import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { connect } from '../http/connect.ts';
import type { Colour } from '../output/colour.ts';
import { coarseDuration } from '../output/duration.ts';
import { print } from '../output/print.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';

type Gateway = RouteOutput<Routes['listGateways']>['gateways'][number];

const colours: Readonly<Record<Gateway['state'], Colour>> = { active: 'green', leaving: 'yellow', lost: 'red' };

const columns: readonly Column<Gateway>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATE', value: ({ state }) => state, colour: ({ state }) => colours[state] },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'UP', value: upFor },
  { title: 'AGENTS', value: ({ agents }) => agents, isRight: true },
  { title: 'IN FLIGHT', value: ({ ops_in_flight: count }) => count, isRight: true },
  { title: 'THIS ONE', value: ({ self }) => (self ? 'yes' : '') },
];

/** Nobody knows when a lost gateway ended. */
function upFor({ state, started_at: at }: Gateway): string {
  return state === 'lost' ? '' : coarseDuration((Date.now() - Date.parse(at)) / 1000);
}

export const clusterCommand = defineCommand({
  details: [
    'Needs the scope admin, and a credential bound to no tenant. A gateway that has shown no sign of life for SVC_TAKEOVER_SECS is lost: the others serve its agents, and AGENTS and IN FLIGHT are what it told last. "This one" has answered.',
    'Data: {gateways: [{id, version, started_at, state: active|leaving|lost, agents, ops_in_flight, self}]}, as GET /api/v1/cluster.',
  ],
  args: {},
  options: {},
  examples: [
    ['reeve cluster', 'the gateways on the same database'],
    ['reeve cluster --output json', 'the same, for a program'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const cluster = await client.call('listGateways', {});
    print(shell, input.globals.output, cluster, () =>
      cluster.gateways.length === 0 ? 'No gateways.' : tableText(shell, columns, cluster.gateways),
    );
    return 0;
  },
});
