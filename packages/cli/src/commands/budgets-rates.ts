import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { choice, number } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';
import { opFilters } from './op-filters.ts';

type Rate = RouteOutput<Routes['listRates']>['items'][number];

const { org, team, agent } = opFilters;

function whoseText({ tier, org_id, team_id, agent_id }: Rate): string {
  if (tier === 'global') return 'everybody';
  const parts = { org: [org_id], team: [org_id, team_id], agent: [org_id, team_id, agent_id] }[tier];
  return parts.map((part) => part ?? '-').join('/');
}

function countedText({ actions, tools }: Rate): string {
  return [...(actions ?? []), ...(tools ?? [])].join(' ') || 'all';
}

const columns: readonly Column<Rate>[] = [
  { title: 'RATE', value: ({ rate }) => rate },
  { title: 'WHOSE', value: whoseText },
  { title: 'COUNTS', value: countedText },
  { title: 'USED', value: ({ count, max }) => `${count} of ${max}` },
  { title: 'WINDOW', value: ({ window_secs: secs }) => `${secs} s` },
  { title: 'ROOM', value: ({ room_at: at }) => at ?? 'now', isTime: true },
];

export const budgetsRatesCommand = defineCommand({
  details: [
    'Needs the scope read. Shows how many checks the rates of the policies have counted in their windows, and when there is room again.',
    'Data: {items, next_cursor, total}, as GET /api/v1/rates.',
  ],
  args: {},
  options: {
    org,
    team,
    agent,
    tier: choice(['global', 'org', 'team', 'agent'], 'Only of this tier.'),
    minPercent: number('N', 'Only those of which at least this percentage is used up.', { min: 0, max: 100 }),
    ...pageOptions,
  },
  examples: [
    ['reeve budgets rates', 'what every rate has counted'],
    ['reeve budgets rates --min-percent 80', 'where there is little room'],
  ],
  run: async (input, shell) => {
    const { options } = input;
    const client = await connect(shell, input);
    const whose = { org_id: options.org, team_id: options.team, agent_id: options.agent };
    const query = { ...whose, tier: options.tier, min_percent: options.minPercent };
    const page = await readPages(options, (paging) => client.call('listRates', { query: { ...query, ...paging } }));
    printList(shell, input.globals, page, columns, 'No rates.');
    return 0;
  },
});
