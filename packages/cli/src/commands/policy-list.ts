import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { moreToCome, pageOptions, readPages } from '../http/pages.ts';
import { cleanText } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import { actorText } from './approval-columns.ts';

type PolicyPage = RouteOutput<Routes['listPolicies']>;
type Policy = PolicyPage['items'][number];

const columns: readonly Column<Policy>[] = [
  { title: 'POLICY', value: ({ name }) => name },
  { title: 'SCOPE', value: ({ scope }) => scope, isFlexible: true },
  { title: 'MODE', value: ({ mode }) => mode, colour: ({ mode }) => (mode === 'observe' ? 'cyan' : undefined) },
  { title: 'DEFAULT', value: (policy) => policy.default },
  { title: 'RULES', value: ({ rules }) => rules, isRight: true },
  { title: 'BUDGET', value: ({ has_budget: has }) => (has ? 'yes' : null), importance: 'minor' },
  { title: 'PRICING', value: ({ has_pricing: has }) => (has ? 'yes' : null), importance: 'minor' },
  { title: 'FROM', value: ({ origin, file }) => (origin === 'file' ? `file ${file}` : 'store'), isFlexible: true },
  { title: 'VERSION', value: ({ version }) => version, isRight: true },
  { title: 'CHANGED', value: ({ updated_at: at }) => at, isTime: true },
  { title: 'BY', value: ({ updated_by: by }) => (by === null ? null : actorText(by)), isFlexible: true },
];

export const policyListCommand = defineCommand({
  details: [
    'Needs the scope read. The documents in force, from files of the gateway and from its store. Data: {items, next_cursor, total, policy_version}, as GET /api/v1/policies.',
  ],
  args: {},
  options: { org: text('ORG', 'Only documents that reach this org.', { aliases: ['org-id'] }), ...pageOptions },
  examples: [['reeve policy list', 'what is in force']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    let version = '';
    const page = await readPages(input.options, async (paging) => {
      const answer = await client.call('listPolicies', { query: { ...paging, org_id: input.options.org } });
      version = answer.policy_version;
      return answer;
    });
    const { output } = input.globals;
    print(shell, output, page, () => {
      if (page.items.length === 0) return 'No policies to see. A gateway without any denies everything.';
      return `${tableText(shell, columns, page.items)}\n\n${cleanText(`Policy version ${version}`)}`;
    });
    const more = moreToCome(page);
    if (more !== undefined && output === 'table') note(shell, more);
    return 0;
  },
});
