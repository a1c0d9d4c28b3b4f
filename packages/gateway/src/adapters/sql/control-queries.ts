import type { ReceiptStatus, Row } from '@reeve/core';
import { numberIn, receiptStatuses } from '@reeve/core';

/** The lookups of controls, in SQL that every database takes. */
export const controlQueries = {
  receipt: 'SELECT record FROM control_receipts WHERE id = ?',
  receiptOf: 'SELECT record FROM control_receipts WHERE org_id = ? AND team_id = ? AND agent_id = ? AND sequence = ?',
  bulk: 'SELECT record FROM control_bulks WHERE id = ?',
  receiptsOfBulk: 'SELECT record FROM control_receipts WHERE bulk_id = ? AND id > ? ORDER BY id LIMIT ?',
  countsOfBulk: 'SELECT status, COUNT(*) AS count FROM control_receipts WHERE bulk_id = ? GROUP BY status',
} as const;

export function countsOf(rows: readonly Row[]): Partial<Record<ReceiptStatus, number>> {
  const counts: Partial<Record<ReceiptStatus, number>> = {};
  for (const row of rows) {
    const status = receiptStatuses.find((each) => each === row['status']);
    if (status !== undefined) counts[status] = numberIn(row, 'count');
  }
  return counts;
}
