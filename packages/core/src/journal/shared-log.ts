import type { ChainHead } from '../audit/index.ts';

/** A fact as it stands in a commit. The steps of a commit are in the order in which they happened. */
export type Step<Change, Event> = { readonly change: Change } | { readonly event: Event };

export function factOf<Change, Event>(step: Step<Change, Event>): Change | Event {
  return 'change' in step ? step.change : step.event;
}

/** Whose state a turn has changed. Plain data, so that it can travel. */
export interface Touched {
  /** Keys of agents. */
  readonly agents: readonly string[];
  /** Orgs of which more than one agent's own state is touched. */
  readonly orgs: readonly string[];
  readonly everything: boolean;
}

/** What one step touches. */
export type Touch = { readonly agent: string } | { readonly org: string } | 'everything' | undefined;

/** What of a commit cannot be read, or of a store. */
export interface Unread {
  /** Whose state it may have changed. Null if nothing in the commit says that. */
  readonly touched: Touched | null;
  readonly why: string;
}

/** A commit of another gateway on the same log. */
export interface ForeignCommit<Change, Event> {
  /** The newest entry of the log after this commit. */
  readonly head: ChainHead;
  readonly steps: readonly Step<Change, Event>[];
  readonly touched: Touched;
  /** What is not among the steps, because nobody here can read it. */
  readonly unread: readonly Unread[];
}

/** What holds for an org, without what is the state of its agents alone. No agent has such a key. */
export function orgItself(orgId: string): Touch {
  return { agent: `${orgId}/` };
}

/** Unknown is as much as everything. */
export const everything: Touched = { agents: [], orgs: [], everything: true };

/** What one step touches, in the form that many do. */
export function touchedBy(touch: Touch): Touched {
  const touches = new Touches();
  touches.add(touch);
  return touches.all;
}

/** Another gateway has written to the log first. Its commits come before the one that was tried, in this order. */
export class HeadMoved<Change = unknown, Event = unknown> extends Error {
  readonly commits: readonly ForeignCommit<Change, Event>[];

  constructor(commits: readonly ForeignCommit<Change, Event>[]) {
    super(`the log has moved on to entry ${commits.at(-1)?.head.seq}`);
    this.name = 'HeadMoved';
    this.commits = commits;
  }
}

/** How a journal works on a log that other gateways write, too. */
export interface Sharing<Change, Event> {
  /** The commits of others that are at hand, in order. Each is handed out once: here, by `read`, `lock` or `HeadMoved`. */
  readonly ready: () => readonly ForeignCommit<Change, Event>[];
  /** The commits of others up to now. Never called while a commit is under way. */
  readonly read: () => Promise<readonly ForeignCommit<Change, Event>[]>;
  /**
   * Locks the log for the next commit, if others are likely to write first, and returns theirs. So nothing is sealed
   * that would have to be sealed again. Undefined if a commit had better be tried at once.
   */
  readonly lock: () => Promise<readonly ForeignCommit<Change, Event>[]> | undefined;
  /** Does the slow part of `follow` ahead of it. Undefined if there is none. Never rejects. */
  readonly prepare: (commits: readonly ForeignCommit<Change, Event>[]) => Promise<void> | undefined;
  /** Applies the facts of a commit to memory. */
  readonly follow: (commit: ForeignCommit<Change, Event>) => void;
  /** Called if memory could not follow. Nothing may be decided by it any more. */
  readonly failed: (error: unknown) => void;
}

/** Collects what the parts of a turn touch. */
export class Touches {
  readonly #agents = new Set<string>();
  readonly #orgs = new Set<string>();
  #everything = false;

  add(touch: Touch): void {
    if (touch === undefined) return;
    if (touch === 'everything') this.#everything = true;
    else if ('agent' in touch) this.#agents.add(touch.agent);
    else this.#orgs.add(touch.org);
  }

  get all(): Touched {
    return { agents: [...this.#agents], orgs: [...this.#orgs], everything: this.#everything };
  }
}

/** What live views are told of a commit. */
export function eventsOf<Change, Event>({ steps }: ForeignCommit<Change, Event>): Event[] {
  return steps.flatMap((step) => ('event' in step ? [step.event] : []));
}
