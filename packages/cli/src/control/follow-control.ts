import { setTimeout as sleep } from 'node:timers/promises';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { isPassing } from '../events/follow-events.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { counted } from '../output/duration.ts';
import { withProgress } from '../output/progress.ts';
import type { Shell } from '../shell.ts';
import { onInterruption } from '../terminal/interruption.ts';

type Report = RouteOutput<Routes['getControl']>;
export type Receipt = Extract<Report, { kind: 'receipt' }>;
export type Counts = Readonly<Record<string, number>>;

/** The result of a scoped control: the number of receipts by status, and the receipts that are not effective. */
export interface ControlReport {
  readonly counts: Counts;
  readonly receipts: readonly Receipt[];
}

const lookEveryMs = 400;
const mostReceipts = 10_000;
/** These statuses are final. */
const settled = new Set(['effective', 'failed', 'unconfirmed']);

/** Follows the receipts of a control until all are final, time is up, or the command is interrupted. */
export async function followControl(
  shell: Shell,
  client: GatewayClient,
  { control_id: id, changed }: { readonly control_id: string | null; readonly changed: number },
  waitMs: number,
): Promise<ControlReport> {
  if (id === null) return { counts: {}, receipts: [] };
  let counts: Counts = {};
  const words = () =>
    `${counts['effective'] ?? 0} of ${counted(changed, 'operation')} effective: ${countsText(counts)}`;
  const work = async () => {
    using interruption = onInterruption();
    const { signal } = interruption;
    const end = performance.now() + waitMs;
    for (;;) {
      counts = await readCounts(client, id);
      const isOver = openReceipts(counts) === 0 || performance.now() >= end || signal.aborted;
      if (isOver) return;
      await sleep(lookEveryMs, undefined, { signal }).catch(() => {});
    }
  };
  await withProgress(shell, words, work());
  return { counts, receipts: await unsettledReceipts(client, id, counts) };
}

/** Following survives a short outage of the gateway. */
async function readCounts(client: GatewayClient, id: string): Promise<Counts> {
  for (let attempt = 0; ; attempt++) {
    try {
      const report = await read(client, id, 1, undefined);
      return report.kind === 'bulk' ? report.counts : { [report.status]: 1 };
    } catch (error) {
      if (!isPassing(error) || attempt === 10) throw error;
      await sleep(lookEveryMs * (attempt + 1));
    }
  }
}

function openReceipts(counts: Counts): number {
  return Object.entries(counts).reduce((sum, [status, count]) => sum + (settled.has(status) ? 0 : count), 0);
}

async function unsettledReceipts(client: GatewayClient, id: string, counts: Counts): Promise<Receipt[]> {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === (counts['effective'] ?? 0)) return [];
  const found: Receipt[] = [];
  let cursor: string | undefined;
  do {
    const report = await read(client, id, 1000, cursor);
    const receipts = report.kind === 'bulk' ? report.receipts : [report];
    found.push(...receipts.filter(({ status }) => status !== 'effective'));
    cursor = report.kind === 'bulk' ? (report.next_cursor ?? undefined) : undefined;
  } while (cursor !== undefined && found.length < mostReceipts);
  return found;
}

function read(client: GatewayClient, id: string, perPage: number, cursor: string | undefined): Promise<Report> {
  const query = { per_page: perPage, cursor };
  return client.call('getControl', { params: { id }, query });
}

export function countsText(counts: Counts): string {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  return present.length === 0 ? 'none yet' : present.map(([status, count]) => `${count} ${status}`).join(', ');
}
