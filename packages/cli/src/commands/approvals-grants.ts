import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';
import { timeLeft } from '../output/duration.ts';
import { actorText } from './approval-columns.ts';
import type { Grant } from './approval-filters.ts';
import { opFilters } from './op-filters.ts';

const columns: readonly Column<Grant>[] = [
  { title: 'GRANT', value: ({ id }) => id },
  {
    title: 'STATE',
    value: ({ state }) => state,
    colour: ({ state }) => (state === 'active' ? 'green' : 'dim'),
    importance: 'major',
  },
  { title: 'AGENT', value: ({ agent }) => agentText(agent) },
  { title: 'ACTION', value: ({ action_type: type }) => type, importance: 'minor' },
  { title: 'COVERS', value: ({ covers }) => covers, isFlexible: true, importance: 'major' },
  { title: 'RULES', value: ({ rules }) => rules.join(', '), isFlexible: true, importance: 'minor' },
  { title: 'FOR', value: ({ reach, run_id: run }) => (reach === 'run' ? `run ${run}` : 'a time') },
  { title: 'ENDS', value: ({ state, expires_at: at }) => (state === 'active' ? timeLeft(at) : at) },
  { title: 'USES', value: ({ uses }) => uses, isRight: true },
  { title: 'LAST USED', value: ({ last_used_at: at }) => at, isTime: true },
  { title: 'GRANTED', value: ({ granted_at: at }) => at, isTime: true },
  { title: 'BY', value: ({ granted_by: by }) => actorText(by), isFlexible: true },
  { title: 'REASON', value: ({ reason }) => reason, isFlexible: true },
];

const { org, team, agent } = opFilters;

export const approvalsGrantsCommand = defineCommand({
  details: ['Needs the scope read. Data: {items, next_cursor, total}, as GET /api/v1/grants.'],
  args: {},
  options: {
    state: choice(['active', 'expired', 'revoked', 'all'], 'Only those. Default: active.'),
    org,
    team,
    agent,
    ...pageOptions,
  },
  examples: [
    ['reeve approvals grants', 'what agents may do without asking again'],
    ['reeve approvals grants --state all --output json', 'also those that have ended, for a program'],
  ],
  run: async (input, shell) => {
    const { options } = input;
    const client = await connect(shell, input);
    const query = { state: options.state, org_id: options.org, team_id: options.team, agent_id: options.agent };
    const page = await readPages(options, (paging) => client.call('listGrants', { query: { ...query, ...paging } }));
    printList(shell, input.globals, page, columns, 'No standing grants.');
    return 0;
  },
});

export const approvalsRevokeGrantCommand = defineCommand({
  details: [
    'Needs the scope write. The next such action is asked about again. Revoking it again changes nothing. Data: the grant, as POST /api/v1/grants/{id}/revoke.',
  ],
  args: { id: required('The id of a grant.', 'grant') },
  options: { reason: text('TEXT', 'Why; the audit log keeps it.') },
  examples: [['reeve approvals revoke-grant grt_9x2m1 --reason "the run went wrong"', 'ask again from now on']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const grant = await client.call('revokeGrant', {
      params: { id: input.args.id },
      body: { reason: input.options.reason ?? '' },
    });
    const words = `${grant.id} is ${grant.state}: ${agentText(grant.agent)} on ${grant.covers}, used ${grant.uses} times.`;
    print(shell, input.globals.output, grant, () => cleanText(words));
    return 0;
  },
});
