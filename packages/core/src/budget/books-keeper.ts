import type { Governance } from '../governance.ts';
import type { DomainEvent } from '../kernel/events.ts';
import type { BooksFold } from './books-fold.ts';

/** So many entries that changed no books may pass before it is noted that they did not. */
const mostEntriesAfter = 10_000;

/**
 * Keeps what was spent in the store, aside from the decision path: it follows what is durable, and now and then writes
 * what has changed, with the entry up to which that is true. A restart adds the entries that came after.
 */
export class BooksKeeper {
  readonly #gov: Governance;
  readonly #fold: BooksFold;
  #mark: number;

  /** `mark` is the entry up to which the store has it. */
  constructor(gov: Governance, fold: BooksFold, mark: number) {
    this.#gov = gov;
    this.#fold = fold;
    this.#mark = mark;
  }

  /** A restart needs the entries after this one. What changed no books since they were saved, it does not need. */
  get neededFrom(): number {
    return this.#fold.hasChanged ? this.#mark : this.#gov.journal.head.seq;
  }

  /** Told of events once they are durable, in order. */
  follow(events: readonly DomainEvent[]): void {
    for (const event of events) {
      if (event.type === 'ops_change' && event.op.state === 'completing') {
        this.#fold.settle(event.agent, event.op.costMicros, event.op.updatedAt);
      } else if (event.type === 'budget' && event.percent !== null) {
        this.#fold.notice(event.of, event.period, event.percent, event.at);
      }
    }
  }

  /** Writes what has changed into this turn's batch; nothing where nothing has. */
  save(): void {
    const { journal, clock, ledger } = this.#gov;
    const over = this.#fold.takeOver(clock.now());
    const saved = this.#fold.takeChanged();
    ledger.forgetIdle();
    const { seq } = journal.head;
    if (saved.length === 0 && over.length === 0 && seq < this.#mark + mostEntriesAfter) return;
    const before = this.#mark;
    this.#mark = seq;
    journal.write({ kind: 'books_saved', saved, over, asOf: { seq, timeZone: ledger.policy.calendar.timeZone } });
    journal.onFailure(() => {
      this.#mark = before;
      for (const books of saved) this.#fold.touch(books.of);
    });
  }
}
