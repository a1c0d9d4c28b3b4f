import type { Undo } from '../journal/index.ts';
import type { AgentId, EpochMs, ReeveError } from '../kernel/index.ts';
import type { ControlAction, Receipt } from '../ops/index.ts';

/** What an agent is told. */
export interface ControlMessage {
  readonly opId: string;
  readonly signal: ControlAction | 'allow';
  readonly sequence: number;
  readonly reason: string;
  readonly issuedAt: EpochMs;
  /** The receipt that an acknowledgement moves; empty if there is none. */
  readonly controlId: string;
}

/** Sends messages to an agent. */
export interface ControlSink {
  isOpen(): boolean;
  /** Returns whether more can be sent right away. */
  send(message: ControlMessage): boolean;
  fail(error: ReeveError): void;
}

/** An open stream of an agent. */
export interface ControlStream {
  readonly sink: ControlSink;
  /** The last message that it received or skipped. */
  cursor: number;
  /** Its reader does not keep up. Nothing is sent until it drains. */
  stalled: boolean;
  /** Whether what its reader has shown still proves who it is. */
  readonly isProven: () => boolean;
  /** Its reader carries out no controls: what it gets does not count as delivered. */
  readonly waitsOnly: boolean;
}

/** A message that waits for its acknowledgement. */
export interface QueuedMessage {
  readonly message: ControlMessage;
  /** Null if the message needs no receipt. */
  receipt: Receipt | null;
  /** The message is durable, so it may leave. */
  released: boolean;
  gone: boolean;
}

/** What rules may see of an outbox. */
export interface KnownOutbox extends Omit<Outbox, 'put' | 'remove' | 'block' | 'lastSequence'> {
  readonly lastSequence: number;
}

/** The unacknowledged messages of an agent, in order, and its open streams. */
export class Outbox {
  readonly agent: AgentId;
  /** The number of the newest message. */
  lastSequence: number;
  readonly streams = new Set<ControlStream>();
  readonly #blocking = new Map<number, Receipt>();
  /** In order. Gone messages are skipped, and cleared away when there are many. */
  #queued: QueuedMessage[] = [];
  #gone = 0;
  readonly #newestOf = new Map<string, QueuedMessage>();
  /** Messages that a later one for the same operation follows. */
  readonly #overtaken = new Set<QueuedMessage>();

  constructor(agent: AgentId, lastSequence = 0) {
    this.agent = agent;
    this.lastSequence = lastSequence;
  }

  get size(): number {
    return this.#queued.length - this.#gone;
  }

  /** The receipts that block the agent from being answered, by number. */
  get blocking(): ReadonlyMap<number, Receipt> {
    return this.#blocking;
  }

  /** Blocks the agent by a receipt, or ends that, as the receipt says. Returns how to take that back. */
  block(receipt: Receipt): Undo {
    const { sequence } = receipt;
    const before = this.#blocking.get(sequence);
    const set = (blocking: Receipt | undefined) => {
      if (blocking === undefined) this.#blocking.delete(sequence);
      else this.#blocking.set(sequence, blocking);
    };
    set(receipt.blocks ? receipt : undefined);
    return () => set(before);
  }

  /** Puts a message in place of the one with the same number, and returns how to take that back. */
  put(queued: QueuedMessage): Undo {
    const { opId, sequence } = queued.message;
    const { lastSequence } = this;
    const putBack = this.remove(sequence);
    const newest = this.#newestOf.get(opId);
    this.#insert(queued);
    this.lastSequence = Math.max(lastSequence, sequence);
    if (newest !== undefined && newest.message.sequence > sequence) this.#overtaken.add(queued);
    else {
      if (newest !== undefined) this.#overtaken.add(newest);
      this.#newestOf.set(opId, queued);
    }
    return () => {
      const wasNewest = this.#newestOf.get(opId) === queued;
      this.#clear(queued);
      if (this.lastSequence === sequence) this.lastSequence = lastSequence;
      if (wasNewest && newest?.gone === false) {
        this.#overtaken.delete(newest);
        this.#newestOf.set(opId, newest);
      }
      putBack();
    };
  }

  find(sequence: number): QueuedMessage | undefined {
    const queued = this.#queued[this.#placeOf(sequence)];
    return queued?.message.sequence === sequence && !queued.gone ? queued : undefined;
  }

  /** The first message after this sequence number. */
  next(after: number): QueuedMessage | undefined {
    let place = this.#placeOf(after + 1);
    while (this.#queued[place]?.gone === true) place++;
    return this.#queued[place];
  }

  /** Removes a message, if it is there, and returns how to take that back. */
  remove(sequence: number): Undo {
    const queued = this.find(sequence);
    if (queued === undefined) return () => undefined;
    const { opId } = queued.message;
    const isOvertaken = this.isOvertaken(queued);
    const isNewest = this.#newestOf.get(opId) === queued;
    this.#clear(queued);
    this.#tidy();
    return () => {
      if (this.find(sequence) !== undefined) return;
      this.#insert(queued);
      if (isOvertaken) this.#overtaken.add(queued);
      if (isNewest) this.#newestOf.set(opId, queued);
    };
  }

  /** The most dispensable message: an overtaken one, else one whose operation is gone, else the oldest. */
  mostDispensable(isKnown: (opId: string) => boolean): QueuedMessage | undefined {
    const [overtaken] = this.#overtaken;
    if (overtaken !== undefined) return overtaken;
    const left = this.#queued.find((queued) => !queued.gone && !isKnown(queued.message.opId));
    return left ?? this.next(0);
  }

  isOvertaken(queued: QueuedMessage): boolean {
    return this.#overtaken.has(queued);
  }

  *queued(): Generator<QueuedMessage> {
    for (const queued of this.#queued) if (!queued.gone) yield queued;
  }

  /** Where this number is, there is none, or one that is gone. */
  #insert(queued: QueuedMessage): void {
    const { sequence } = queued.message;
    const place = this.#placeOf(sequence);
    if (this.#queued[place]?.message.sequence === sequence) {
      this.#gone--;
      this.#queued[place] = queued;
    } else this.#queued.splice(place, 0, queued);
    queued.gone = false;
  }

  #tidy(): void {
    if (this.#gone < 64 || this.#gone * 2 < this.#queued.length) return;
    this.#queued = this.#queued.filter((each) => !each.gone);
    this.#gone = 0;
  }

  #clear(queued: QueuedMessage): void {
    if (queued.gone) return;
    queued.gone = true;
    this.#gone++;
    this.#overtaken.delete(queued);
    if (this.#newestOf.get(queued.message.opId) === queued) this.#newestOf.delete(queued.message.opId);
  }

  /** The index where this sequence number is, or would be. */
  #placeOf(sequence: number): number {
    let low = 0;
    let high = this.#queued.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#queued[middle]?.message.sequence ?? 0) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
