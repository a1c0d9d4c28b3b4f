import type { ChainHead, EntryDraft, Seal, SealedEntry } from '../audit/index.ts';
import type { Sharing, Step, Touched } from './shared-log.ts';
import type { FactPorts, Typed, Undo } from './meaning.ts';
import type { Warrant } from './warrant.ts';

/** Carries the sequence of the entry that last changed it. */
export interface Stamped {
  seq: number;
}

/** Everything that one commit makes durable, as a whole. */
export interface Batch<Change, Event = unknown> {
  readonly entries: readonly SealedEntry[];
  readonly changes: readonly Change[];
  /** What happened, for live views and for other gateways on the same log. Absent if nothing did. */
  readonly told?: Told<Change, Event>;
}

export interface Told<Change, Event> {
  readonly events: readonly Event[];
  /** What other gateways on the same log must follow. If there are none: what a start applies again. */
  readonly steps: readonly Step<Change, Event>[];
  readonly touched: Touched;
}

/** The journal as a feature sees it: it takes the changes and the events of that feature. */
export interface JournalOf<Change, Event> {
  readonly head: ChainHead;
  readonly isShared: boolean;
  turn<Result>(by: Warrant, act: () => Result): Promise<Result>;
  fresh<Result>(read: () => Result | Promise<Result>): Promise<Result>;
  record(draft: EntryDraft, stamped?: Stamped): void;
  /** Changes memory by a fact, and makes it durable with this turn. */
  apply(fact: Change | Event): void;
  applyLocally(change: () => Undo): void;
  onCommitted(work: () => void): void;
  durable<Result>(read: () => Result | Promise<Result>): Promise<Result>;
  catchUp(): Promise<boolean>;
  nextTurn(): Promise<void>;
  undurable(): Iterable<Typed>;
}

export interface JournalPorts<Change, Event> extends FactPorts<Change | Event> {
  /** Writes all of the batch or nothing, as `Store.commit` does. */
  readonly commit: (batch: Batch<Change, Event>) => void | Promise<void>;
  /** Runs `flush` at the end of the event loop's turn, when the work at hand is done. */
  readonly soon: (flush: () => void) => void;
  readonly seal: Seal;
  /** `isForeign`: they happened at another gateway. */
  readonly publish: (events: readonly Event[], isForeign: boolean) => void;
  /** Called after each attempt to commit, so that health can follow. */
  readonly onCommit: (error: unknown) => void;
  /** Called if work that waited for a commit fails. The commit stands. */
  readonly onError: (error: unknown) => void;
  /** Set if other gateways write to the same log. */
  readonly sharing?: Sharing<Change, Event>;
}
