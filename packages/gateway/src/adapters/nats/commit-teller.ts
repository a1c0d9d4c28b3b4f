import type { SentCommit } from '../postgres/commit-feed.ts';
import type { Bus } from './bus.ts';
import { messagesOf } from './commit-messages.ts';

/** Commits that follow the last message more closely than this wait for one another. */
const gatherMs = 10;
/** A gateway that has followed nobody for so long is the only one that commits. */
const aloneAfterMs = 50;

export const commitsTopic = 'commits';

export interface CommitTellerOptions {
  readonly bus: Pick<Bus, 'publish' | 'mostBytes'>;
  /** When this gateway has followed another one's commit, on the monotonic clock. */
  readonly followedAt: () => number;
  readonly elapsed: () => number;
}

/**
 * Tells the other gateways of commits. What only follows hears of many at once, because a message costs sender and reader
 * more than the commit in it. A gateway that commits, too, hears at once: each of its commits needs the one before.
 */
export class CommitTeller {
  readonly #of: CommitTellerOptions;
  #waiting: SentCommit[] = [];
  #timer: NodeJS.Timeout | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: CommitTellerOptions) {
    this.#of = options;
  }

  tell(commit: SentCommit): void {
    const { followedAt, elapsed } = this.#of;
    this.#waiting.push(commit);
    const now = elapsed();
    if (now - this.#toldAt >= gatherMs || now - followedAt() < aloneAfterMs) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), gatherMs);
  }

  /** Tells what has waited. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { bus, elapsed } = this.#of;
    const commits = this.#waiting;
    if (commits.length === 0) return;
    this.#waiting = [];
    this.#toldAt = elapsed();
    for (const message of messagesOf(commits, bus.mostBytes)) bus.publish(commitsTopic, message);
  }
}
