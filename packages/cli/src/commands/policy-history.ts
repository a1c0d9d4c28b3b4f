import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { required } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';
import { actorText } from './approval-columns.ts';

type Version = RouteOutput<Routes['policyVersions']>['items'][number];

const columns: readonly Column<Version>[] = [
  { title: 'VERSION', value: ({ version }) => version, isRight: true },
  {
    title: 'STATE',
    value: ({ current, source }) => (current ? 'in force' : source === null ? 'deleted' : null),
    colour: ({ current }) => (current ? 'green' : 'dim'),
  },
  { title: 'SAVED', value: ({ saved_at: at }) => at, isTime: true },
  { title: 'BY', value: ({ saved_by: by }) => actorText(by), isFlexible: true },
  { title: 'LINES', value: ({ source }) => source?.trimEnd().split('\n').length, isRight: true, importance: 'minor' },
  { title: 'NOTE', value: ({ note }) => note, isFlexible: true },
];

export const policyHistoryCommand = defineCommand({
  details: [
    'Needs the scope read. All versions of a stored document, newest first. Data: {items, next_cursor, total} with the text of each, as GET /api/v1/policies/{name}/versions.',
  ],
  args: { name: required('The name of a document.', 'policy') },
  options: pageOptions,
  examples: [
    ['reeve policy history guardrails', 'who has changed it, and when'],
    ['reeve policy history guardrails --output json', 'with the text of each version'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const page = await readPages(input.options, (query) =>
      client.call('policyVersions', { params: { name: input.args.name }, query }),
    );
    printList(shell, input.globals, page, columns, 'No versions.');
    return 0;
  },
});
