import type { EntryLog } from './audit-reader.ts';
import { ReplayedEntry } from './replayed-entry.ts';

const page = 1000;

/** Restores something from the log. */
export interface LogFollower {
  /** It gets the entries after this one. */
  readonly after: number;
  follow(entry: ReplayedEntry): void;
}

/** Reads the log once for all followers: it may be long, and reading it takes longer than following it. */
export async function replayLog(log: EntryLog, followers: readonly LogFollower[]): Promise<void> {
  let seq = Math.min(...followers.map(({ after }) => after));
  for (;;) {
    const entries = await log.after(seq, page);
    for (const stored of entries) {
      const entry = new ReplayedEntry(stored);
      for (const follower of followers) if (stored.seq > follower.after) follower.follow(entry);
    }
    const last = entries.at(-1);
    if (last === undefined) return;
    seq = last.seq;
  }
}
