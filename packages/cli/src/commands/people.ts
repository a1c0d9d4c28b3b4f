import type { PersonJson } from '@reeve/contract/people';
import { addPeople } from '@reeve/contract/people';
import { defineCommand } from '../command-line/command.ts';
import { pointInTime } from '../command-line/duration-seconds.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';
import { logFilters } from './log-filters.ts';

const { org, team, user, from, to } = logFilters;

function agentsText({ agents, agent_count: count }: PersonJson): string {
  const named = agents.map(({ org_id, team_id, agent_id }) => [org_id, team_id, agent_id].map((id) => id || '-'));
  const rest = count - named.length;
  return [...named.map((ids) => ids.join('/')), ...(rest > 0 ? [`and ${rest} more`] : [])].join(' ');
}

const columns: readonly Column<PersonJson>[] = [
  { title: 'USER', value: ({ user: { email, sub } }) => email || sub },
  { title: 'ISSUER', value: ({ user: { issuer } }) => issuer, importance: 'minor' },
  { title: 'LAST SEEN', value: ({ last_at: at }) => at, isTime: true },
  { title: 'ALLOWED', value: ({ allow }) => allow, isRight: true },
  { title: 'DENIED', value: ({ deny }) => deny, isRight: true },
  { title: 'HELD', value: ({ pending }) => pending, isRight: true },
  { title: 'AGENTS', value: agentsText },
];

export const peopleCommand = defineCommand({
  details: [
    'Needs the scope read. Counts the decisions about checks that named a user by a subject token, newest first. HELD are those that had to wait for a person.',
    'A page looks at a bounded number of entries of the log; --all goes on to its beginning.',
    'Data: {items, next_cursor, since}, as GET /api/v1/people.',
  ],
  args: {},
  options: { org, team, user, from, to, ...pageOptions },
  examples: [
    ['reeve people --org acme --from 24h', 'for whom agents of acme acted since yesterday'],
    ['reeve logs --user ann@example.com --decision deny', 'what was denied to one of them, and why'],
  ],
  run: async (input, shell) => {
    const { options } = input;
    const client = await connect(shell, input);
    const query = {
      ...{ org_id: options.org, team_id: options.team, user: options.user },
      from: options.from === undefined ? undefined : pointInTime(options.from, '--from'),
      to: options.to === undefined ? undefined : pointInTime(options.to, '--to'),
    };
    const page = await readPages(options, (paging) => client.call('listPeople', { query: { ...query, ...paging } }));
    const people = { ...page, items: addPeople([], page.items) };
    printList(shell, input.globals, people, columns, 'No agent acted for a user.');
    return 0;
  },
});
