import type { ClosedBooks } from '../budget/books.ts';
import type { Period } from '../budget/period.ts';
import type { TierOf } from '../budget/tier.ts';
import { tierKey } from '../budget/tier.ts';
import type { Change } from '../store.ts';

/** What was spent in days and months that are over, in memory. */
export class MemoryClosedBooks {
  /** By period and tier, then by day or month. */
  readonly #byTier = new Map<string, Map<string, ClosedBooks>>();

  apply({ closed, closedBefore }: Extract<Change, { kind: 'books_saved' }>): void {
    for (const books of closed) {
      const name = nameOf(books.of, books.period);
      const known = this.#byTier.get(name) ?? new Map<string, ClosedBooks>();
      known.set(books.id, books);
      this.#byTier.set(name, known);
    }
    if (closedBefore === null) return;
    for (const known of this.#byTier.values()) {
      for (const { id, period } of known.values()) if (id < closedBefore[period]) known.delete(id);
    }
  }

  newest(of: TierOf, period: Period, count: number): ClosedBooks[] {
    const known = [...(this.#byTier.get(nameOf(of, period))?.values() ?? [])];
    return known.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(-count);
  }
}

function nameOf(of: TierOf, period: Period): string {
  return `${period} ${tierKey(of)}`;
}
