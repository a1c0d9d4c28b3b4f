import type { ChainHead, Seal, EntryDraft, SealedEntry } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';

/** Takes a change back, where the turn it belongs to could not be made durable. */
export type Undo = () => void;

/** What is stamped with the sequence of the entry that last changed it. */
export interface Stamped {
  seq: number;
}

/** All that one turn makes durable, or nothing of it. */
export interface Batch<Change> {
  readonly entries: readonly SealedEntry[];
  readonly changes: readonly Change[];
}

/** Another gateway on the same store has written entries: the chain goes on from `head`. */
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
  /** Writes the batch, all of it or none, as `Store.commit` does. */
  readonly commit: (batch: Batch<Change>) => void | Promise<void>;
  /** Runs `flush` when the work that is at hand has been done: at the end of the event loop's turn. */
  readonly soon: (flush: () => void) => void;
  readonly seal: Seal;
  readonly publish: (events: readonly Event[]) => void;
  /** Told after each attempt to commit, so that health can follow. */
  readonly onCommit: (error: unknown) => void;
  /** Told where work that waited for a commit failed: what was committed stands. */
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
 * The one way in which anything becomes durable. What happens within a turn of the event loop is gathered, sealed
 * into the chain and committed at once; answers wait for `committed()`. Where the commit fails, every change of that
 * turn is taken back in reverse order, the answers fail, and the next turn starts from the last durable state.
 *
 * A store that takes its time has one commit in flight; what happens meanwhile is gathered into the next. That next one
 * was built on what is in flight, so where the commit fails, both are taken back.
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

  /** Adds an entry to this turn. `stamped`, where given, is stamped with the entry's sequence. */
  record(draft: EntryDraft, stamped?: Stamped): void {
    const tick = this.#open();
    tick.drafts.push(draft);
    tick.stamped.push(stamped);
  }

  write(change: Change): void {
    this.#open().changes.push(change);
  }

  /** Notes how to take back a change in memory that this turn has made. */
  onFailure(undo: Undo): void {
    this.#open().undos.push(undo);
  }

  /** Does something as soon as this turn is durable, before its answers leave; nothing where it does not become so. */
  onCommitted(work: () => void): void {
    this.#open().afterwards.push(work);
  }

  publish(event: Event): void {
    this.#open().events.push(event);
  }

  /** Resolves when everything recorded so far is durable; rejects with `store_unavailable` where it is not. */
  committed(): Promise<void> {
    return (this.#tick ?? this.#inFlight)?.committed ?? settled;
  }

  /** Whether a change that fits has been made here and is not durable yet. */
  isPending(fits: (change: Change) => boolean): boolean {
    return [this.#tick, this.#inFlight].some((tick) => tick?.changes.some(fits) === true);
  }

  /** The changes that have been made here and are not durable yet, as of now. */
  pending(): readonly Change[] {
    return [...(this.#inFlight?.changes ?? []), ...(this.#tick?.changes ?? [])];
  }

  /** Resolves in the next turn of the event loop: others have their say in between. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#ports.soon(resolve));
  }

  /** What has happened in memory and is not durable yet, in order. */
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
   * Commits all there is, and resolves when nothing is in flight any more. What comes after that is taken back: the store
   * may be closed, and is not asked.
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

  /** The same entries, sealed after those of another gateway. */
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

  /** What was gathered on top of a commit that failed falls with it, and is taken back first. */
  #takeBackAll(tick: Tick<Change, Event>, error: unknown): void {
    const above = this.#tick;
    this.#tick = undefined;
    try {
      this.#reject(above === undefined ? [tick] : [above, tick], error);
    } finally {
      this.#ports.onCommit(error);
    }
  }

  /** Takes back what the turns have changed. Whatever goes wrong on the way, those who wait for them are told that they failed. */
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
