import type { BulkControl, ControlSequence, Receipt, ReceiptStatus } from '@reeve/core';
import { receiptStatuses } from '@reeve/core';
import type { SqlValue } from './sql-database.ts';
import type { Row } from './sqlite-rows.ts';
import { number, text } from './sqlite-rows.ts';

/** How controls are read and written, in SQL that every database takes. */
export const controlSql = {
  saveReceipt: `
    INSERT INTO control_receipts
      (id, bulk_id, org_id, team_id, agent_id, sequence, op_id, requested_at, status, is_open, record)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, is_open = excluded.is_open, record = excluded.record`,
  saveBulk: `
    INSERT INTO control_bulks (id, requested_at, is_remembered, record) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET is_remembered = excluded.is_remembered, record = excluded.record`,
  saveSequence: `
    INSERT INTO control_sequences (org_id, team_id, agent_id, sequence) VALUES (?, ?, ?, ?)
      ON CONFLICT (org_id, team_id, agent_id) DO UPDATE SET sequence = excluded.sequence`,
  removeReceipts: `
    DELETE FROM control_receipts WHERE id IN (
      SELECT r.id FROM control_receipts r
      WHERE r.requested_at < ? AND r.is_open = 0 AND NOT EXISTS (
        SELECT 1 FROM ops o
        WHERE o.org_id = r.org_id AND o.team_id = r.team_id AND o.agent_id = r.agent_id AND o.op_id = r.op_id)
      ORDER BY r.requested_at, r.id LIMIT ?)`,
  removeBulks: `
    DELETE FROM control_bulks WHERE id IN (
      SELECT id FROM control_bulks WHERE requested_at < ? ORDER BY requested_at, id LIMIT ?)`,
  openReceipts: 'SELECT record FROM control_receipts WHERE is_open = 1',
  rememberedBulks: `
    SELECT record FROM control_bulks WHERE is_remembered = 1 ORDER BY requested_at DESC, id DESC LIMIT 10000`,
  sequences: 'SELECT * FROM control_sequences',
  receipt: 'SELECT record FROM control_receipts WHERE id = ?',
  receiptOf: `
    SELECT record FROM control_receipts WHERE org_id = ? AND team_id = ? AND agent_id = ? AND sequence = ?`,
  bulk: 'SELECT record FROM control_bulks WHERE id = ?',
  receiptsOfBulk: 'SELECT record FROM control_receipts WHERE bulk_id = ? AND id > ? ORDER BY id LIMIT ?',
  countsOfBulk: 'SELECT status, COUNT(*) AS count FROM control_receipts WHERE bulk_id = ? GROUP BY status',
} as const;

export function receiptValues(receipt: Receipt): SqlValue[] {
  const { id, bulkId, agent, sequence, opId, requestedAt, status } = receipt;
  const isOpen = receipt.waiting || receipt.blocks ? 1 : 0;
  const place = [agent.orgId, agent.teamId, agent.agentId, sequence];
  return [id, bulkId, ...place, opId, requestedAt, status, isOpen, JSON.stringify(receipt)];
}

export function receiptOf(row: Row): Receipt {
  // One from before widths were noted counts as the operator's, so that nobody else lifts it.
  const older = { width: 'unbound', owed: false } as const;
  return { ...older, ...(JSON.parse(text(row, 'record')) as Omit<Receipt, 'width' | 'owed'>) };
}

export function bulkValues(bulk: BulkControl): SqlValue[] {
  const isRemembered = bulk.done && bulk.idempotency !== null ? 1 : 0;
  return [bulk.id, bulk.requestedAt, isRemembered, JSON.stringify(bulk)];
}

export function bulkOf(row: Row): BulkControl {
  return JSON.parse(text(row, 'record')) as BulkControl;
}

export function sequenceOf(row: Row): ControlSequence {
  const agent = { orgId: text(row, 'org_id'), teamId: text(row, 'team_id'), agentId: text(row, 'agent_id') };
  return { agent, sequence: number(row, 'sequence') };
}

export function countsOf(rows: readonly Row[]): Partial<Record<ReceiptStatus, number>> {
  const counts: Partial<Record<ReceiptStatus, number>> = {};
  for (const row of rows) {
    const status = receiptStatuses.find((each) => each === row['status']);
    if (status !== undefined) counts[status] = number(row, 'count');
  }
  return counts;
}
