import type { Undo } from '../journal/index.ts';
import type { Clock } from '../kernel/index.ts';

/** What rules see of reports. */
export type KnownReports = Omit<ReportedTools, 'note'>;

const keptMs = 24 * 3600 * 1000;
const mostKept = 20_000;

/**
 * Which changes of tools were reported of late, so that agents that look often fill no log. Each gateway remembers what
 * it has heard since it started, and forgets the oldest.
 */
export class ReportedTools {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When each was noted. Oldest first. */
  readonly #noted = new Map<string, { readonly at: number }>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** Whether this was reported in the last 24 hours. */
  has(report: string): boolean {
    const noted = this.#noted.get(report);
    return noted !== undefined && this.#clock.elapsed() - noted.at < keptMs;
  }

  /** Notes reports, and returns how to take that back. Another gateway may have told of the same one since. */
  note(reports: readonly string[]): Undo {
    const noted = { at: this.#clock.elapsed() };
    for (const report of reports) {
      this.#noted.delete(report);
      this.#noted.set(report, noted);
    }
    for (const oldest of this.#noted.keys()) {
      if (this.#noted.size <= mostKept) break;
      this.#noted.delete(oldest);
    }
    return () => {
      for (const report of reports) if (this.#noted.get(report) === noted) this.#noted.delete(report);
    };
  }
}
