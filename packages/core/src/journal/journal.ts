import type { ChainHead, Seal, EntryDraft, SealedEntry } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';

/** Takes a change back if its turn could not be made durable. */
export type Undo = () => void;

/** Carries the sequence of the entry that last changed it. */
export interface Stamped {
  seq: number;
}

/** Everything that one turn makes durable, as a whole. */
export interface Batch<Change> {
  readonly entries: readonly SealedEntry[];
  readonly changes: readonly Change[];
}

/** Another gateway on the same store has written entries. The chain continues from `head`. */
export class HeadMoved extends Error {
  readonly head: ChainHead;

  constructor(head: ChainHead) {
    super(`the log has moved on to entry ${head.seq}`);
    this.name = 'HeadMoved';
    this.head = head;
  }
}

/** Events are told apart by their type. */
export interface Typed {
  readonly type: string;
}

/** The journal as a feature sees it: it takes the changes and the events of that feature. */
export interface JournalOf<Change, Event> {
  readonly head: ChainHead;
  record(draft: EntryDraft, stamped?: Stamped): void;
  write(change: Change): void;
  onFailure(undo: Undo): void;
  onCommitted(work: () => void): void;
  publish(event: Event): void;
  committed(): Promise<void>;
  nextTurn(): Promise<void>;
  undurable(): Iterable<Typed>;
}

export interface JournalPorts<Change, Event> {
  /** Writes all of the batch or nothing, as `Store.commit` does. */
  readonly commit: (batch: Batch<Change>) => void | Promise<void>;
  /** Runs `flush` at the end of the event loop's turn, when the work at hand is done. */
  readonly soon: (flush: () => void) => void;
  readonly seal: Seal;
  readonly publish: (events: readonly Event[]) => void;
  /** Called after each attempt to commit, so that health can follow. */
  readonly onCommit: (error: unknown) => void;
  /** Called if work that waited for a commit fails. The commit stands. */
  readonly onError: (error: unknown) => void;
}

interface Tick<Change, Event> {
  readonly drafts: EntryDraft[];
  readonly stamped: (Stamped | undefined)[];
  readonly changes: Change[];
  readonly undos: Undo[];
  readonly events: Event[];
  readonly afterwards: (() => void)[];
  readonly committed: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The one way to durability. The journal gathers what happens within a turn of the event loop, seals it into the chain
 * and commits it at once. Answers wait for `committed()`. If the commit fails, the journal takes every change of that
 * turn back in reverse order, the answers fail, and the next turn starts from the last durable state.
 *
 * A slow store has one commit in flight. The journal gathers what happens meanwhile into the next turn. That turn
 * builds on the commit in flight, so if the commit fails, the journal takes both back.
 */
export class Journal<Change, Event extends Typed> implements JournalOf<Change, Event> {
  readonly #ports: JournalPorts<Change, Event>;
  #head: ChainHead;
  #tick: Tick<Change, Event> | undefined;
  #inFlight: Tick<Change, Event> | undefined;
  #closed = false;

  constructor(ports: JournalPorts<Change, Event>, head: ChainHead) {
    this.#ports = ports;
    this.#head = head;
  }

  /** The newest durable entry. */
  get head(): ChainHead {
    return this.#head;
  }

  /** Adds an entry to this turn. `stamped`, if given, gets the entry's sequence. */
  record(draft: EntryDraft, stamped?: Stamped): void {
    const tick = this.#open();
    tick.drafts.push(draft);
    tick.stamped.push(stamped);
  }

  write(change: Change): void {
    this.#open().changes.push(change);
  }

  /** Notes how to take back a change that this turn made in memory. */
  onFailure(undo: Undo): void {
    this.#open().undos.push(undo);
  }

  /** Runs `work` as soon as this turn is durable, before its answers leave. If the turn fails, `work` never runs. */
  onCommitted(work: () => void): void {
    this.#open().afterwards.push(work);
  }

  publish(event: Event): void {
    this.#open().events.push(event);
  }

  /** Resolves when everything recorded so far is durable. Rejects with `store_unavailable` if it cannot be. */
  committed(): Promise<void> {
    return (this.#tick ?? this.#inFlight)?.committed ?? settled;
  }

  /** Whether a matching change was made here and is not durable yet. */
  isPending(fits: (change: Change) => boolean): boolean {
    return [this.#tick, this.#inFlight].some((tick) => tick?.changes.some(fits) === true);
  }

  /** A copy of the changes that were made here and are not durable yet. */
  pending(): readonly Change[] {
    return [...(this.#inFlight?.changes ?? []), ...(this.#tick?.changes ?? [])];
  }

  /** Resolves in the next turn of the event loop, so that others run in between. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#ports.soon(resolve));
  }

  /** The events that happened in memory and are not durable yet, in order. */
  *undurable(): Iterable<Event> {
    for (const tick of [this.#inFlight, this.#tick]) yield* tick?.events ?? [];
  }

  /** Commits this turn now, or as soon as the commit in flight has settled. */
  flush(): void {
    if (this.#inFlight !== undefined) return;
    const tick = this.#tick;
    if (tick === undefined) return;
    this.#tick = undefined;
    if (this.#closed) this.#reject([tick], new Error('the journal is closed'));
    else this.#commit(tick);
  }

  /**
   * Commits everything, and resolves when nothing is in flight. Later work is taken back without asking the store,
   * which may be closed.
   */
  async close(): Promise<void> {
    while (this.#tick !== undefined || this.#inFlight !== undefined) {
      this.flush();
      await this.committed().catch(() => undefined);
    }
    this.#closed = true;
  }

  #commit(tick: Tick<Change, Event>): void {
    let entries: SealedEntry[];
    let durable: void | Promise<void>;
    try {
      entries = this.#sealAll(tick);
      durable = this.#ports.commit({ entries, changes: tick.changes });
    } catch (error) {
      this.#takeBackAll(tick, error);
      return;
    }
    if (durable === undefined) this.#settle(tick, entries);
    else this.#await(tick, entries, durable);
  }

  #await(tick: Tick<Change, Event>, entries: readonly SealedEntry[], durable: Promise<void>): void {
    this.#inFlight = tick;
    durable
      .then(
        () => {
          this.#inFlight = undefined;
          this.#settle(tick, entries);
        },
        (error: unknown) => {
          this.#inFlight = undefined;
          if (error instanceof HeadMoved) this.#commitAfter(error.head, tick);
          else this.#takeBackAll(tick, error);
        },
      )
      .finally(() => this.flush());
  }

  /** Seals the same entries after those of another gateway. */
  #commitAfter(head: ChainHead, tick: Tick<Change, Event>): void {
    this.#head = head;
    this.#commit(tick);
  }

  #settle(tick: Tick<Change, Event>, entries: readonly SealedEntry[]): void {
    const last = entries.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
    tick.stamped.forEach((stamped, index) => {
      if (stamped !== undefined) stamped.seq = entries[index]?.seq ?? stamped.seq;
    });
    this.#ports.onCommit(undefined);
    this.#ports.publish(tick.events);
    for (const work of tick.afterwards) this.#attempt(work);
    tick.resolve();
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#ports.onError(error);
    }
  }

  #open(): Tick<Change, Event> {
    if (this.#tick === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      promise.catch(() => undefined);
      this.#tick = {
        drafts: [],
        stamped: [],
        changes: [],
        undos: [],
        events: [],
        afterwards: [],
        committed: promise,
        resolve,
        reject,
      };
      this.#ports.soon(() => this.flush());
    }
    return this.#tick;
  }

  /** Work gathered on top of a failed commit fails with it, and is taken back first. */
  #takeBackAll(tick: Tick<Change, Event>, error: unknown): void {
    const above = this.#tick;
    this.#tick = undefined;
    try {
      this.#reject(above === undefined ? [tick] : [above, tick], error);
    } finally {
      this.#ports.onCommit(error);
    }
  }

  /** Takes back what the turns changed. Whatever goes wrong on the way, the waiting callers learn of the failure. */
  #reject(ticks: readonly Tick<Change, Event>[], cause: unknown): void {
    try {
      for (const tick of ticks) for (const undo of tick.undos.reverse()) undo();
    } finally {
      const failure = new ReeveError('store_unavailable', 'the audit log cannot be written; nothing was decided');
      failure.cause = cause;
      for (const tick of ticks) tick.reject(failure);
    }
  }

  #sealAll(tick: Tick<Change, Event>): SealedEntry[] {
    let head = this.#head;
    const entries: SealedEntry[] = [];
    for (const draft of tick.drafts) {
      const entry = this.#ports.seal(draft, head);
      head = entry;
      entries.push(entry);
    }
    return entries;
  }
}

const settled = Promise.resolve();
