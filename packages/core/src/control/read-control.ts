import type { Principal } from '../access/index.ts';
import { mayReach, requireScope } from '../access/index.ts';
import type { Controls } from './controls.ts';
import { ReeveError } from '../kernel/index.ts';
import type { BulkControl, ControlReport } from './bulk-control.ts';

const mostReceipts = 1000;

/** What became of a control. For a scoped control this includes a page of its receipts, after the one named `after`. */
export async function readControl(
  gov: Controls,
  by: Principal,
  id: string,
  page: { readonly after?: string | undefined; readonly limit?: number | undefined } = {},
): Promise<ControlReport> {
  requireScope(by, 'read');
  const { reader } = gov.control;
  const receipt = await reader.receipt(id);
  if (receipt !== undefined && mayReach(by, receipt.agent)) return { kind: 'receipt', receipt };
  const bulk = await reader.bulk(id);
  if (bulk === undefined || !liesWithin(by, bulk)) {
    throw new ReeveError('control_not_found', `there is no control "${id}"`);
  }
  const { after = '', limit = mostReceipts } = page;
  const counted = await reader.countsOfBulk(id);
  const found = await reader.receiptsOfBulk(id, after, limit + 1);
  const receipts = found.slice(0, limit);
  const none = { requested: 0, delivered: 0, acked: 0, effective: 0, failed: 0, unconfirmed: 0 };
  return {
    kind: 'bulk',
    bulk,
    counts: { ...none, ...counted },
    receipts,
    next: found.length > receipts.length ? (receipts.at(-1)?.id ?? null) : null,
  };
}

/** For a tenant, a control that could reach beyond it does not exist. */
function liesWithin(by: Principal, bulk: BulkControl): boolean {
  if (by.orgId !== null && by.orgId !== bulk.orgId) return false;
  return by.teamId === null || by.teamId === bulk.teamId;
}
