import type { StoredEntry } from '../audit/audit-reader.ts';
import type { SealedEntry } from '../audit/entry.ts';
import type { RowsOf, Table } from '../journal/rows.ts';
import { integer, numberIn, prune, text, textIn } from '../journal/rows.ts';

/** Retention: entries up to this one are given up. */
export interface LogsChange {
  readonly kind: 'entries_removed';
  readonly through: number;
}

/** `canonical` holds the whole; the columns beside it are what is looked for. */
export const entriesTable: Table<SealedEntry, 'seq', StoredEntry> = {
  name: 'audit',
  key: { seq: integer(({ seq }) => seq) },
  columns: {
    at: integer(({ draft }) => draft.at),
    event_type: text(({ draft }) => draft.eventType),
    org_id: text(({ draft }) => draft.lineage.org_id),
    team_id: text(({ draft }) => draft.lineage.team_id),
    agent_id: text(({ draft }) => draft.lineage.agent_id),
    op_id: text(({ draft }) => draft.opId),
    decision: text(({ draft }) => draft.decision),
    claimed_org_id: text(({ draft }) => draft.claimedOrgId ?? null),
    hash: text(({ hash }) => hash),
    canonical: text(({ canonical }) => canonical),
  },
  valuesOf: ({ seq, hash, canonical, draft }) => [
    seq,
    draft.at,
    draft.eventType,
    draft.lineage.org_id,
    draft.lineage.team_id,
    draft.lineage.agent_id,
    draft.opId,
    draft.decision,
    draft.claimedOrgId ?? null,
    hash,
    canonical,
  ],
  itemOf: (row) => ({ seq: numberIn(row, 'seq'), hash: textIn(row, 'hash'), canonical: textIn(row, 'canonical') }),
};

export const logRows: RowsOf<LogsChange> = {
  entries_removed: ({ through }) => [prune(entriesTable, [{ column: 'seq', is: '<=', value: through }])],
};
