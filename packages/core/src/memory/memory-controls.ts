import type { BulkControl } from '../control/bulk-control.ts';
import type { ControlReader, ControlSequence } from '../control/control-reader.ts';
import type { Receipt, ReceiptStatus } from '../ops/receipt.ts';
import type { Change, Snapshot } from '../store.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentKey } from '../kernel/ids.ts';

type ControlChange = Extract<
  Change,
  { readonly kind: 'receipt_saved' | 'bulk_control_saved' | 'control_sequence_saved' | 'receipts_removed' }
>;

/** How many receipts are kept: of those that are settled, the oldest go first. */
const mostReceipts = 100_000;
const mostRemembered = 10_000;

/** What the store in memory keeps of controls. */
export class MemoryControls implements ControlReader {
  readonly #receipts = new Map<string, Receipt>();
  readonly #bySequence = new Map<string, string>();
  readonly #bulks = new Map<string, BulkControl>();
  readonly #sequences = new Map<string, ControlSequence>();

  load(): Pick<Snapshot, 'receipts' | 'bulkControls' | 'controlSequences'> {
    const remembered = [...this.#bulks.values()].filter((bulk) => bulk.done && bulk.idempotency !== null);
    return {
      receipts: [...this.#receipts.values()].filter(isOpen),
      bulkControls: remembered.toSorted((a, b) => b.requestedAt - a.requestedAt).slice(0, mostRemembered),
      controlSequences: [...this.#sequences.values()],
    };
  }

  /** `hasRow` tells whether the operation of a receipt has one. */
  apply(change: ControlChange, hasRow: (receipt: Receipt) => boolean): void {
    switch (change.kind) {
      case 'receipt_saved':
        this.#save(change.receipt);
        break;
      case 'bulk_control_saved':
        this.#bulks.set(change.bulk.id, change.bulk);
        break;
      case 'control_sequence_saved':
        this.#sequences.set(agentKey(change.sequence.agent), change.sequence);
        break;
      case 'receipts_removed':
        this.#remove(change.before, change.most, hasRow);
        break;
    }
  }

  receipt(id: string): Promise<Receipt | undefined> {
    return Promise.resolve(this.#receipts.get(id));
  }

  receipts(ids: readonly string[]): Promise<readonly Receipt[]> {
    return Promise.resolve(ids.map((id) => this.#receipts.get(id)).filter((receipt) => receipt !== undefined));
  }

  receiptOf(agent: AgentId, sequence: number): Promise<Receipt | undefined> {
    return this.receipt(this.#bySequence.get(nameOf({ agent, sequence })) ?? '');
  }

  bulk(id: string): Promise<BulkControl | undefined> {
    return Promise.resolve(this.#bulks.get(id));
  }

  receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]> {
    const found = this.#ofBulk(bulkId).filter(({ id }) => id > after);
    return Promise.resolve(found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit));
  }

  countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>> {
    const counts: Partial<Record<ReceiptStatus, number>> = {};
    for (const { status } of this.#ofBulk(bulkId)) counts[status] = (counts[status] ?? 0) + 1;
    return Promise.resolve(counts);
  }

  #ofBulk(bulkId: string): Receipt[] {
    return [...this.#receipts.values()].filter((receipt) => receipt.bulkId === bulkId);
  }

  #save(receipt: Receipt): void {
    this.#receipts.set(receipt.id, receipt);
    this.#bySequence.set(nameOf(receipt), receipt.id);
    if (this.#receipts.size > 2 * mostReceipts) {
      this.#remove(Number.POSITIVE_INFINITY, mostReceipts, () => false);
    }
  }

  #remove(before: number, most: number, hasRow: (receipt: Receipt) => boolean): void {
    const old = [...this.#receipts.values()].filter((each) => each.requestedAt < before && !isOpen(each));
    for (const receipt of old
      .filter((each) => !hasRow(each))
      .sort(byAge)
      .slice(0, most)) {
      this.#receipts.delete(receipt.id);
      this.#bySequence.delete(nameOf(receipt));
    }
    const bulks = [...this.#bulks.values()].filter((bulk) => bulk.requestedAt < before);
    for (const { id } of bulks.sort(byAge).slice(0, most)) this.#bulks.delete(id);
  }
}

function isOpen({ waiting, blocks }: Receipt): boolean {
  return waiting || blocks;
}

function nameOf({ agent, sequence }: { readonly agent: AgentId; readonly sequence: number }): string {
  return `${agentKey(agent)}#${sequence}`;
}

function byAge(a: Receipt | BulkControl, b: Receipt | BulkControl): number {
  return a.requestedAt - b.requestedAt || (a.id < b.id ? -1 : 1);
}
