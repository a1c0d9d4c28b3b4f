import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import { logColumns } from './log-columns.ts';
import { logFilters, logQuery } from './log-filters.ts';

export const logsCommand = defineCommand({
  details: [
    'Needs the scope read. Newest first. With --follow: oldest first, and then new entries, until Ctrl-C.',
    'Data: {items, next_cursor}, as GET /api/v1/logs; with --follow one JSON object for each entry, on a line of its own, or one YAML document.',
  ],
  args: {},
  options: { ...logFilters, follow: flag('Keep showing new ones.', { short: 'f' }), ...pageOptions },
  examples: [
    ['reeve logs --decision deny --from 1h', 'what was denied in the last hour'],
    ['reeve logs --event-type A2AImpersonationAttempted', 'who claimed to be somebody else'],
    ['reeve logs --follow --org acme', 'what happens in an org, as it happens'],
    ['reeve logs --all --from 2026-11-15 --output json', 'a day, for a program'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    if (options.follow && (options.all || options.cursor !== undefined || options.to !== undefined)) {
      throw new UsageError('--follow goes on with what comes: --all, --cursor and --to cannot stand beside it');
    }
    const query = logQuery(options);
    const client = await connect(shell, input);
    if (options.follow) {
      const { followLogs } = await import('./follow-logs.ts');
      return followLogs(shell, globals, client, query, options.perPage ?? 10);
    }
    const page = await readPages(options, (paging) => client.call('listLogs', { query: { ...query, ...paging } }));
    printList(shell, globals, page, logColumns, 'No entries.');
    return 0;
  },
});
