import type { ChainHead, EntryDraft, SealedEntry } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import { Trace } from './footprint.ts';
import type { Batch, JournalPorts, Stamped } from './journal-ports.ts';
import type { Typed, Undo } from './meaning.ts';
import type { Step } from './shared-log.ts';
import { factOf, Touches } from './shared-log.ts';

/** What one caller did in a turn of the event loop. On a log of our own, all callers of a turn have one part. */
export class Part<Change, Event extends Typed> {
  readonly drafts: EntryDraft[] = [];
  readonly stamped: (Stamped | undefined)[] = [];
  readonly changes: Change[] = [];
  readonly events: Event[] = [];
  /** The facts that other gateways follow, or that a start applies again. In order. */
  readonly steps: Step<Change, Event>[] = [];
  readonly undos: Undo[] = [];
  readonly afterwards: (() => void)[] = [];
  /** What it rests on, if it can be done again. */
  readonly trace: Trace | undefined;
  /** How many commits of others were known when it was done. */
  readonly knowing: number;
  /** Who can do it again. */
  readonly by: Attempt<Change, Event> | undefined;

  constructor(knowing: number, by?: Attempt<Change, Event>) {
    this.knowing = knowing;
    this.by = by;
    this.trace = by === undefined ? undefined : new Trace();
  }

  get isEmpty(): boolean {
    return this.drafts.length + this.steps.length + this.undos.length + this.afterwards.length === 0;
  }
}

/** A turn that can be done again, if another gateway was first. */
export interface Attempt<Change, Event extends Typed> {
  run(): void;
  /** Where it was recorded last. */
  tick: Tick<Change, Event> | undefined;
}

/** What is committed together. */
export interface Tick<Change, Event extends Typed> {
  parts: Part<Change, Event>[];
  readonly committed: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Whether a tick only has work for afterwards. */
export function writesNothing<Change, Event extends Typed>({ parts }: Tick<Change, Event>): boolean {
  return parts.every(({ drafts, changes, events }) => drafts.length + changes.length + events.length === 0);
}

export function newTick<Change, Event extends Typed>(): Tick<Change, Event> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  return { parts: [], committed: promise, resolve, reject };
}

/** Seals everything that a tick has gathered onto the head of the log. */
export function batchOf<Change, Event extends Typed>(
  tick: Tick<Change, Event>,
  head: ChainHead,
  { seal, touchOf }: Pick<JournalPorts<Change, Event>, 'seal' | 'touchOf'>,
): Batch<Change, Event> {
  const entries = sealAll(tick, head, seal);
  const changes = all(tick, (part) => part.changes);
  const events = all(tick, (part) => part.events);
  const steps = all(tick, (part) => part.steps);
  const touches = new Touches();
  for (const step of steps) touches.add(touchOf(factOf(step)));
  return { entries, changes, told: { events, steps, touched: touches.all } };
}

/** The entries are durable: what they changed gets their sequences. */
export function stampAll<Change, Event extends Typed>(
  { parts }: Tick<Change, Event>,
  entries: readonly SealedEntry[],
): void {
  let next = 0;
  for (const { stamped } of parts) {
    for (const each of stamped) {
      const entry = entries[next++];
      if (each !== undefined && entry !== undefined) each.seq = entry.seq;
    }
  }
}

function sealAll<Change, Event extends Typed>(
  { parts }: Tick<Change, Event>,
  from: ChainHead,
  seal: JournalPorts<Change, Event>['seal'],
): SealedEntry[] {
  let head = from;
  const entries: SealedEntry[] = [];
  for (const { drafts } of parts) {
    for (const draft of drafts) {
      const entry = seal(draft, head);
      head = entry;
      entries.push(entry);
    }
  }
  return entries;
}

/** On a log of our own there is one part, and nothing is copied. */
function all<Change, Event extends Typed, Item>(
  { parts }: Tick<Change, Event>,
  of: (part: Part<Change, Event>) => readonly Item[],
): readonly Item[] {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? of(only) : parts.flatMap(of);
}

/** Takes back the facts of ticks, newest first. Waiting callers are told in any case, even if an inverse throws. */
export function rejectAll<Change, Event extends Typed>(ticks: readonly Tick<Change, Event>[], cause: unknown): void {
  try {
    for (const { parts } of ticks) {
      for (const { undos } of parts.toReversed()) for (const undo of undos.reverse()) undo();
    }
  } finally {
    const failure = unavailable('written');
    failure.cause = cause;
    for (const tick of ticks) tick.reject(failure);
  }
}

/** Lets go of the log. */
export const nothingToWrite: Batch<never, never> = { entries: [], changes: [] };

/** What callers are told if nothing can be decided. */
export function unavailable(what: 'read' | 'written'): ReeveError {
  return new ReeveError('store_unavailable', `the audit log cannot be ${what}; nothing was decided`);
}
