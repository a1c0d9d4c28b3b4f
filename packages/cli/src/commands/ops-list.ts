import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import type { Colour } from '../output/colour.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';
import type { Op } from './op-filters.ts';
import { opFilters, opQuery } from './op-filters.ts';
import { entrances, opStates } from '@reeve/contract/names';

export const stateColours: Readonly<Record<string, Colour>> = {
  pending: 'yellow',
  running: 'green',
  paused: 'cyan',
  completing: 'dim',
  terminated: 'red',
};

export const opColumns: readonly Column<Op>[] = [
  { title: 'OPERATION', value: ({ op_id: id }) => id },
  { title: 'STATE', value: stateText, colour: ({ state }) => stateColours[state], importance: 'major' },
  { title: 'AGENT', value: ({ agent }) => agentText(agent), importance: 'major' },
  { title: 'ACTION', value: ({ action_type: type }) => type, importance: 'minor' },
  { title: 'RESOURCE', value: ({ resource }) => resource, isFlexible: true },
  { title: 'SUMMARY', value: ({ summary }) => summary, isFlexible: true },
  { title: 'RUN', value: ({ run_id: run }) => run, importance: 'minor' },
  { title: 'DOOR', value: doorText, isFlexible: true, importance: 'minor' },
  { title: 'UPDATED', value: ({ updated_at: at }) => at, isTime: true, importance: 'major' },
  { title: 'COST USD', value: ({ cost_micros: micros }) => usd(micros), isRight: true },
  { title: 'CONTROL', value: controlText, isFlexible: true },
  { title: 'REASON', value: ({ reason }) => reason, isFlexible: true },
];

export function stateText({ state, stale }: Op): string {
  return stale ? `${state} (stale)` : state;
}

/** By which door the action came, and through whom. An older gateway does not say. */
function doorText({ via }: Op): string {
  return via === null || via === undefined ? '' : `${via.door} ${via.name}`.trimEnd();
}

/** The last control and its status. */
export function controlText({ control }: Op): string {
  if (control === null || control === undefined) return '';
  return `${control.action} ${control.status}${control.evidence === 'kernel' ? ' (kernel)' : ''}`;
}

function usd(micros: number): string {
  return (micros / 1_000_000)
    .toFixed(6)
    .replace(/(?<!0)0+$/, '')
    .replace(/\.$/, '');
}

export const opsListCommand = defineCommand({
  details: ['Needs the scope read. Data: {items, next_cursor, total}, as GET /api/v1/ops.'],
  args: {},
  options: {
    state: choice(opStates, 'Only those.'),
    door: choice(entrances, 'Only those that came by this door.'),
    ...opFilters,
    ...pageOptions,
  },
  examples: [
    ['reeve ops list', 'what is in flight, and what ended a moment ago'],
    ['reeve ops list --state paused --org acme --output json', 'what is paused in an org, for a program'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const query = { ...opQuery(input.options), state: input.options.state, door: input.options.door };
    const page = await readPages(input.options, (paging) => client.call('listOps', { query: { ...query, ...paging } }));
    printList(shell, input.globals, page, opColumns, 'No operations.');
    return 0;
  },
});
