import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { pointInTime } from '../command-line/duration-seconds.ts';
import { flag, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import { approvalColumns } from './approval-columns.ts';
import { approvalFilters } from './approval-filters.ts';
import { opQuery } from './op-filters.ts';

export const approvalsListCommand = defineCommand({
  details: [
    'Needs the scope read. Shows open ones, the one that expires first at the top. With --decided: approved and rejected ones, newest first, also by who gave a verdict and when. With --state: those in that state. With --follow: the open ones and then every change, until Ctrl-C; on a terminal "reeve approvals watch" does that with keys to decide.',
    'Data: {items, next_cursor, total}, as GET /api/v1/approvals; with --follow one JSON object for each approval, on a line of its own, or one YAML document.',
  ],
  args: {},
  options: {
    ...approvalFilters,
    decided: flag('Approved and rejected ones.'),
    by: text('WHO', 'With --decided: the email of a person, or the id or label of a key, that gave a verdict.'),
    since: text('TIME', 'With --decided: not before 2026-11-15T08:00:00Z, 2026-11-15, or 2h for two hours ago.'),
    until: text('TIME', 'With --decided: not after; the same forms.'),
    follow: flag('Keep showing new ones.', { short: 'f' }),
    ...pageOptions,
  },
  examples: [
    ['reeve approvals list', 'what waits for a verdict'],
    ['reeve approvals list --decided --by ada@example.com --since 1d', 'what somebody decided since yesterday'],
    ['reeve approvals list --state rejected --org acme', 'what was refused in an org'],
    ['reeve approvals list --follow --output json', 'what comes, for a program that tells people'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    if (
      options.follow &&
      (options.all || options.cursor !== undefined || options.state !== undefined || options.decided)
    ) {
      throw new UsageError(
        '--follow goes on with what comes: --all, --cursor, --state and --decided cannot stand beside it',
      );
    }
    const decided = decidedQuery(options);
    const client = await connect(shell, input);
    if (options.follow) {
      const { followApprovals } = await import('../approvals/follow-lines.ts');
      return followApprovals(shell, globals, client, options);
    }
    const query = { ...opQuery(options), state: options.state, ...decided };
    const page = await readPages(options, (paging) => client.call('listApprovals', { query: { ...query, ...paging } }));
    const none = options.decided ? 'Nothing was decided.' : 'Nothing waits for approval.';
    printList(shell, globals, page, approvalColumns, none);
    return 0;
  },
});

interface DecidedOptions {
  readonly state: string | undefined;
  readonly decided: boolean;
  readonly by: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
}

function decidedQuery({ state, decided, by, since, until }: DecidedOptions) {
  if (!decided) {
    if (by === undefined && since === undefined && until === undefined) return {};
    throw new UsageError('--by, --since and --until are about decisions: put --decided beside them');
  }
  if (state !== undefined) throw new UsageError('--decided and --state cannot stand together');
  return {
    state: 'decided' as const,
    decided_by: by,
    from: since === undefined ? undefined : pointInTime(since, '--since'),
    to: until === undefined ? undefined : pointInTime(until, '--until'),
  };
}
