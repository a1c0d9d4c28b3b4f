import type { Approval } from '../approvals/index.ts';
import type { EventIdsChange, Journal } from '../journal/index.ts';
import type { OpRecord } from '../ops/index.ts';
import type { DomainEvent } from '../store.ts';
import type { ShownPart } from './shown-parts.ts';
import { countIds, isItself, partOf, partsOf } from './shown-parts.ts';

/** How many events can be replayed. A power of two, so that a mask finds the slot of an id. */
const eventsKept = 16_384;
/** How many characters their texts may hold together. Beyond that, the oldest events are dropped. */
const mostHeld = 64 * 1024 * 1024;
/** How many ids are reserved at once. When half of a block is used, the log reserves the next. */
const idsPerBlock = 1_000_000;

/** Where a stream starts, and whether it misses events that are gone. */
export interface Start {
  /** The first id to send. */
  readonly from: number;
  readonly gap: boolean;
}

/**
 * The newest events of the gateway, each with its id. Ids grow by one and never repeat, even over restarts. They come
 * from blocks that the store counts as used up, so a restart skips what a kill left of a block.
 */
export class EventLog {
  readonly #journal: Pick<Journal<EventIdsChange, never>, 'apply' | 'committed'> | undefined;
  readonly #first: number;
  readonly #isFirstRun: boolean;
  #next: number;
  /** The newest id that may be given out. */
  #reserved: number;
  #reserving = false;
  readonly #ring: (DomainEvent | undefined)[] = Array.from({ length: eventsKept }, () => undefined);
  /** Which part of the event in that place has its id. An event of several parts is in several places. */
  readonly #parts = new Uint8Array(eventsKept);
  #oldest: number;
  #held = 0;
  readonly #mostHeld: number;
  /** Events that wait for a reserved id. */
  #waiting: DomainEvent[] = [];
  readonly #listeners = new Set<() => void>();

  /**
   * `reserved` is what earlier runs have reserved: any of these ids may be in use. A first run cannot have missed
   * anything before it, whatever its first id: 0 stands for the time before all events. Without a journal the ids go on
   * from there: several gateways append the same events in the same order, and count alike.
   */
  constructor(
    journal: Pick<Journal<EventIdsChange, never>, 'apply' | 'committed'> | undefined,
    reserved: number,
    isFirstRun: boolean,
    most: number = mostHeld,
  ) {
    this.#journal = journal;
    this.#first = reserved + 1;
    this.#isFirstRun = isFirstRun;
    this.#next = this.#first;
    this.#oldest = this.#first;
    this.#mostHeld = most;
    this.#reserved = journal === undefined ? Number.MAX_SAFE_INTEGER : reserved;
    this.#reserve();
  }

  /** Puts back the newest events of earlier runs, oldest first. The last of them has the newest id that is known. */
  restore(events: readonly DomainEvent[]): void {
    this.#next = this.#first - countIds(events);
    this.#oldest = this.#next;
    for (const event of events) this.#put(event);
  }

  /** The id of the newest event; before the first one, the id that precedes it. */
  get newest(): number {
    return this.#next - 1;
  }

  /** The id of the oldest event that is still there. */
  get oldest(): number {
    return this.#oldest;
  }

  at(id: number): DomainEvent | undefined {
    if (id < this.oldest || id >= this.#next) return undefined;
    const place = id & (eventsKept - 1);
    const event = this.#ring[place];
    return event === undefined ? undefined : partOf(event, this.#parts[place] as ShownPart);
  }

  append(events: readonly DomainEvent[]): void {
    const before = this.#next;
    for (const event of events) {
      // What comes after one that waits, waits too.
      if (this.#waiting.length > 0 || this.#next + partsOf(event).length - 1 > this.#reserved)
        this.#waiting.push(event);
      else this.#put(event);
    }
    if (this.#reserved - this.#next < idsPerBlock / 2) this.#reserve();
    if (this.#next > before) for (const listener of this.#listeners) listener();
  }

  /** Calls the listener once for each turn that brought new events. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Where to go on after `since`. Without `since`, or after an id yet to come, there is nothing to replay. If several
   * gateways count alike, another one may have shown events that are yet to come here: they are not sent again.
   */
  startAfter(since: number | undefined): Start {
    const ahead = since === undefined ? 0 : since - this.newest;
    if (since !== undefined && this.#journal === undefined && ahead > 0 && ahead <= eventsKept) {
      return { from: since + 1, gap: false };
    }
    if (since === undefined || since >= this.newest) return { from: this.#next, gap: false };
    if (since + 1 >= this.oldest) return { from: since + 1, gap: false };
    const isComplete = since === 0 && this.#isFirstRun && this.oldest === this.#first;
    return { from: this.oldest, gap: !isComplete };
  }

  #put(event: DomainEvent): void {
    for (const part of partsOf(event)) this.#putPart(event, part);
  }

  /** Drops the oldest events until there is room, but never the one that just came. */
  #putPart(event: DomainEvent, part: ShownPart): void {
    if (this.#next - this.#oldest >= eventsKept) this.#forgetOldest();
    const place = this.#next++ & (eventsKept - 1);
    this.#ring[place] = event;
    this.#parts[place] = part;
    this.#held += weightOf(event, part);
    while (this.#held > this.#mostHeld && this.#oldest < this.#next - 1) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const place = this.#oldest++ & (eventsKept - 1);
    const event = this.#ring[place];
    if (event !== undefined) this.#held -= weightOf(event, this.#parts[place] as ShownPart);
    this.#ring[place] = undefined;
  }

  #reserve(): void {
    if (this.#reserving || this.#journal === undefined) return;
    this.#reserving = true;
    const through = this.#reserved + idsPerBlock;
    this.#journal.apply({ kind: 'event_ids_reserved', through });
    this.#journal.committed().then(
      () => {
        this.#reserving = false;
        this.#reserved = through;
        const waiting = this.#waiting;
        this.#waiting = [];
        this.append(waiting);
      },
      // Half a block is left for another try. While nothing can be committed, nothing happens either.
      () => {
        this.#reserving = false;
      },
    );
  }
}

/** The weight of an event without the texts that others wrote. */
const bare = 512;

/**
 * About how much memory an event takes, in characters. Events never change, and neither do their weights. The parts of one
 * event share its texts, which count where the event is shown itself.
 */
function weightOf(event: DomainEvent, part: ShownPart): number {
  switch (event.type) {
    case 'ops_change':
      return isItself(part) ? bare + textsOfOp(event.op) : bare;
    case 'approval':
      return bare + textsOfApproval(event.approval);
    case 'decision':
      return bare + event.reason.length;
    case 'policy':
      return bare + (event.error?.length ?? 0);
    case 'audit_alert':
      return bare + JSON.stringify([event.details, event.reported]).length;
    case 'suspension':
      return bare + event.suspension.reason.length;
    case 'agent':
    case 'budget':
      return bare;
  }
}

function textsOfOp({ resource, summary, reason, control }: OpRecord): number {
  const told = control === null ? 0 : control.reason.length + control.detail.length;
  return resource.length + summary.length + reason.length + told;
}

function textsOfApproval({ resource, summary, action, reason, verdicts }: Approval): number {
  const given = verdicts.reduce((sum, verdict) => sum + verdict.reason.length, 0);
  return resource.length + summary.length + action.length + reason.length + given;
}
