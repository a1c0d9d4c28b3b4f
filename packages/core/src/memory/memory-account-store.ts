import type { AccountRows, AccountStore } from '../accounts/index.ts';
import { outboxTable } from '../accounts/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { KeptRows } from './memory-account-rows.ts';
import { MemoryAccountRows } from './memory-account-rows.ts';

/** Accounts in memory. Transactions run one after the other, whatever locks they name. */
export class MemoryAccountStore implements AccountStore {
  readonly #kept: KeptRows = new Map();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  transaction<Result>(_locks: readonly string[], work: (rows: AccountRows) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => this.#run(work));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async read<Result>(work: (rows: AccountRows) => Promise<Result>): Promise<Result> {
    return work(new MemoryAccountRows(this.#kept, (what) => this.#check(what === 'reads', 'a read changes nothing')));
  }

  async close(): Promise<void> {
    await this.#last;
    this.#closed = true;
  }

  /** The entry is in the log and leaves the outbox. The log's store calls this within its commit. */
  entryRecorded(id: string): void {
    this.#kept.get(outboxTable)?.delete(id);
  }

  async #run<Result>(work: (rows: AccountRows) => Promise<Result>): Promise<Result> {
    let open = true;
    const rows = new MemoryAccountRows(this.#kept, () => this.#check(open, 'the transaction is over'));
    try {
      this.#check(true, '');
      const result = await work(rows);
      rows.keep();
      return result;
    } finally {
      open = false;
    }
  }

  #check(allowed: boolean, problem: string): void {
    if (this.#closed) throw new ReeveError('store_unavailable', 'the store of accounts is closed');
    if (!allowed) throw new Error(problem);
  }
}
