import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import { approvalColumns } from './approval-columns.ts';
import { approvalFilters } from './approval-filters.ts';
import { opQuery } from './op-filters.ts';

export const approvalsListCommand = defineCommand({
  details: [
    'Needs the scope read. Shows open ones, the one that expires first at the top. With --state: decided ones, newest first. With --follow: the open ones and then every change, until Ctrl-C; on a terminal "reeve approvals watch" does that with keys to decide.',
    'Data: {items, next_cursor, total}, as GET /api/v1/approvals; with --follow one JSON object for each approval, on a line of its own, or one YAML document.',
  ],
  args: {},
  options: { ...approvalFilters, follow: flag('Keep showing new ones.', { short: 'f' }), ...pageOptions },
  examples: [
    ['reeve approvals list', 'what waits for a verdict'],
    ['reeve approvals list --state rejected --org acme', 'what was refused in an org'],
    ['reeve approvals list --follow --output json', 'what comes, for a program that tells people'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    if (options.follow && (options.all || options.cursor !== undefined || options.state !== undefined)) {
      throw new UsageError('--follow goes on with what comes: --all, --cursor and --state cannot stand beside it');
    }
    const client = await connect(shell, input);
    if (options.follow) {
      const { followApprovals } = await import('../approvals/follow-lines.ts');
      return followApprovals(shell, globals, client, options);
    }
    const query = { ...opQuery(options), state: options.state };
    const page = await readPages(options, (paging) =>
      client.call('listApprovals', { method: 'GET', path: '/api/v1/approvals', query: { ...query, ...paging } }),
    );
    printList(shell, globals, page, approvalColumns, 'Nothing waits for approval.');
    return 0;
  },
});
