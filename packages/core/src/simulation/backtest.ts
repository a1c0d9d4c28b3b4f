import type { Principal } from '../access/index.ts';
import { latestLogs } from '../logs/index.ts';
import type { Decisions } from '../decision/index.ts';
import type { AuditReader, StoredEntry } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { BacktestSummary } from './backtest-tally.ts';
import { BacktestTally } from './backtest-tally.ts';
import type { ChangedDecision, JudgedAgain } from './judge-again.ts';

export type BacktestLine =
  | { readonly type: 'progress'; readonly examined: number; readonly changed: number; readonly share: number }
  | { readonly type: 'change'; readonly change: ChangedDecision }
  | ({ readonly type: 'result'; readonly from: EpochMs; readonly to: EpochMs } & BacktestSummary);

export interface BacktestPorts {
  readonly gov: Pick<Decisions, 'journal' | 'clock'>;
  readonly log: AuditReader;
  /** Judges the decisions among entries by the candidate, aside from the decision path. */
  readonly judge: (entries: readonly StoredEntry[]) => Promise<readonly JudgedAgain[]>;
}

export interface BacktestRequest {
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly orgId?: string;
  readonly teamId?: string;
  readonly agentId?: string;
  /** How many changes are listed one by one. */
  readonly changes: number;
}

const entriesPerPage = 250;
const progressEvery = 400;

/**
 * Judges the decisions between two times again, newest first and page by page. The reader sets the pace, and ends the
 * backtest by reading no further.
 */
export async function* backtest(
  { gov, log, judge }: BacktestPorts,
  by: Principal,
  { from, to, changes, ...scope }: BacktestRequest,
): AsyncGenerator<BacktestLine> {
  const tally = new BacktestTally();
  const head = gov.journal.head.seq;
  const reading = new Reading(from, to);
  let told = gov.clock.elapsed();
  let before: number | null = head + 1;
  yield progress(tally, 0);
  while (before !== null) {
    const page: Awaited<ReturnType<typeof latestLogs>> = await latestLogs(log, by, {
      ...scope,
      from,
      to,
      before,
      limit: entriesPerPage,
    });
    for (const { at, skipped, changed } of await judge(page.entries)) {
      reading.at = at;
      tally.examined++;
      if (skipped) tally.skipped++;
      if (changed === undefined) continue;
      tally.add(changed);
      if (tally.changed <= changes) yield { type: 'change', change: changed };
    }
    before = page.next;
    if (gov.clock.elapsed() - told < progressEvery) continue;
    told = gov.clock.elapsed();
    yield progress(tally, reading.share());
  }
  yield { type: 'result', from, to, ...tally.summary() };
}

/** How far the backtest has come through its time span. */
class Reading {
  readonly #from: EpochMs;
  readonly #to: EpochMs;
  at: EpochMs;

  constructor(from: EpochMs, to: EpochMs) {
    this.#from = from;
    this.#to = to;
    this.at = to;
  }

  share(): number {
    const share = (this.#to - this.at) / Math.max(1, this.#to - this.#from);
    return Math.round(Math.min(1, Math.max(0, share)) * 1000) / 1000;
  }
}

function progress({ examined, changed }: BacktestTally, share: number): BacktestLine {
  return { type: 'progress', examined, changed, share };
}
