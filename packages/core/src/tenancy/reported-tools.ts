import type { Undo } from '../journal/index.ts';
import type { Clock } from '../kernel/index.ts';

const keptMs = 24 * 3600 * 1000;
const mostKept = 20_000;

/**
 * Which changes of tools were reported of late, so that agents that look often fill no log. Each gateway remembers for
 * itself, and forgets the oldest.
 */
export class ReportedTools {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When each was noted. Oldest first. */
  readonly #notedAt = new Map<string, number>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** Notes a report, and returns how to take that back. Undefined if it was noted in the last 24 hours. */
  note(report: string): Undo | undefined {
    const at = this.#clock.elapsed();
    const before = this.#notedAt.get(report);
    if (before !== undefined && at - before < keptMs) return undefined;
    this.#notedAt.delete(report);
    this.#notedAt.set(report, at);
    if (this.#notedAt.size > mostKept) this.#forgetOldest();
    return () => {
      this.#notedAt.delete(report);
    };
  }

  #forgetOldest(): void {
    for (const oldest of this.#notedAt.keys()) {
      this.#notedAt.delete(oldest);
      return;
    }
  }
}
