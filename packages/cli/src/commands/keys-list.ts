import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';

export type ApiKey = RouteOutput<Routes['listApiKeys']>['items'][number];

const columns: readonly Column<ApiKey>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'LABEL', value: ({ label }) => label, isFlexible: true },
  { title: 'SCOPES', value: ({ scopes }) => scopes.join(',') },
  { title: 'ORG', value: ({ org_id: org }) => org },
  { title: 'TEAM', value: ({ team_id: team }) => team },
  {
    title: 'STATE',
    value: stateOf,
    colour: (key) => (stateOf(key) === 'in force' ? 'green' : 'dim'),
    importance: 'major',
  },
  { title: 'CREATED', value: ({ created_at: at }) => at, isTime: true, importance: 'minor' },
  { title: 'EXPIRES', value: ({ expires_at: at }) => at, isTime: true },
  { title: 'LAST USED', value: ({ last_used_at: at }) => at, isTime: true },
  { title: 'REVOKED', value: ({ revoked_at: at }) => at, isTime: true, importance: 'minor' },
];

function stateOf({ revoked_at: revoked, expires_at: expires }: ApiKey): string {
  if (revoked !== null) return 'revoked';
  return expires !== null && Date.parse(expires) <= Date.now() ? 'expired' : 'in force';
}

export const keysListCommand = defineCommand({
  details: [
    'Needs the scope admin. Revoked keys stay listed. Data: {items, next_cursor, total}, as GET /api/v1/iam/api-keys.',
  ],
  args: {},
  options: { org: text('ORG', 'Only keys that are bound to this org.', { aliases: ['org-id'] }), ...pageOptions },
  examples: [
    ['reeve keys list', 'the newest keys'],
    ['reeve keys list --org acme --all --output json', 'all keys of an org, for a program'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const page = await readPages(input.options, (query) =>
      client.call('listApiKeys', { query: { ...query, org_id: input.options.org } }),
    );
    printList(shell, input.globals, page, columns, 'No API keys.');
    return 0;
  },
});
