import type { EntryLog, StoredEntry } from './audit-reader.ts';
import { ReplayedEntry } from './replayed-entry.ts';

const page = 1000;

/** Restores something from the log. */
export interface LogFollower {
  /** It gets the entries after this one. */
  readonly after: number;
  follow(entry: ReplayedEntry): void;
}

/**
 * Reads the log up to an entry, once for all followers: it may be long, and reading it takes longer than following it. An
 * entry that cannot be read or followed is told, and the others are followed.
 */
export async function replayLog(
  log: EntryLog,
  followers: readonly LogFollower[],
  through: number,
  onUnread: (stored: StoredEntry) => void,
): Promise<void> {
  let seq = Math.min(...followers.map(({ after }) => after));
  // A start may ask for a few entries very often, where many commits cannot be read.
  while (seq < through) {
    const entries = await log.after(seq, Math.min(page, through - seq));
    for (const stored of entries) {
      if (stored.seq > through) return;
      try {
        const entry = new ReplayedEntry(stored);
        for (const follower of followers) if (stored.seq > follower.after) follower.follow(entry);
      } catch {
        onUnread(stored);
      }
    }
    const last = entries.at(-1);
    if (last === undefined) return;
    seq = last.seq;
  }
}
