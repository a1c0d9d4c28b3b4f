import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';

export type Suspension = RouteOutput<Routes['listSuspensions']>['items'][number];

const columns: readonly Column<Suspension>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'ORG', value: ({ org_id: org }) => org ?? 'everything', importance: 'major' },
  { title: 'TEAM', value: ({ team_id: team }) => team, importance: 'major' },
  { title: 'ACTION', value: ({ action }) => action },
  { title: 'BY', value: ({ by }) => (by.label === '' ? by.id : by.label), isFlexible: true },
  { title: 'SINCE', value: ({ since }) => since },
  { title: 'REASON', value: ({ reason }) => reason, isFlexible: true },
];

export const suspensionsCommand = defineCommand({
  details: [
    'Needs the scope read. The orgs and teams that are suspended, and whether everything is, newest first: every check in them is denied. A tenant also sees the wider suspensions that hold it. Data: {items, next_cursor, total}, as GET /api/v1/suspensions.',
  ],
  args: {},
  options: {
    org: text('ORG', 'Only what holds this org, or a part of it.', { aliases: ['org-id'] }),
    team: text('TEAM', 'Only those of this team alone.', { aliases: ['team-id'] }),
    ...pageOptions,
  },
  examples: [['reeve suspensions', 'what is held, by whom and why']],
  run: async (input, shell) => {
    const { org, team } = input.options;
    const client = await connect(shell, input);
    const page = await readPages(input.options, (query) =>
      client.call('listSuspensions', { query: { ...query, org_id: org, team_id: team } }),
    );
    printList(shell, input.globals, page, columns, 'Nothing is suspended.');
    return 0;
  },
});
