import type { Answer } from '../../api/send.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/column.ts';
import { DataTable } from '../../ui/data-table.tsx';

type Simulated = Answer<'simulatePolicy'>;
/** A rule on calls, or one on results. */
type Considered = Simulated['rules'][number] | NonNullable<Simulated['result']>['rules'][number];

const columns: readonly Column<Considered>[] = [
  {
    id: 'rule',
    header: 'Rule',
    cell: ({ document, rule, observed }) => (
      <span className="break-all">
        {document}/{rule} {observed ? <Badge tone="info">observed</Badge> : null}
      </span>
    ),
  },
  { id: 'effect', header: 'Effect', isWideOnly: true, cell: ({ effect }) => effect },
  {
    id: 'matched',
    header: 'Matched',
    cell: ({ matched }) => (matched ? <Badge tone="accent">yes</Badge> : <span className="text-muted">no</span>),
    sortBy: ({ matched }) => (matched ? 0 : 1),
  },
  { id: 'why', header: 'Why', cell: ({ why }) => <span className="break-words">{why}</span> },
];

/** Every considered rule, and why it did or did not match. */
export function ConsideredRules({ rules }: { readonly rules: readonly Considered[] }) {
  if (rules.length === 0) return <p className="px-4 pb-4 text-muted">No rule was considered.</p>;
  return (
    <DataTable
      caption="Rules considered"
      columns={columns}
      rows={rules}
      rowKey={({ document, rule }) => `${document}/${rule}`}
    />
  );
}
