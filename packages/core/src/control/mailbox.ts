import type { AgentId } from '../kernel/agent-id.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { ReeveError } from '../kernel/errors.ts';
import type { ControlAction, Receipt } from '../ops/receipt.ts';

/** What an agent is told. */
export interface ControlMessage {
  readonly opId: string;
  readonly signal: ControlAction | 'allow';
  readonly sequence: number;
  readonly reason: string;
  readonly issuedAt: EpochMs;
  /** The receipt that an acknowledgement moves; empty where there is none. */
  readonly controlId: string;
}

/** Where messages leave for an agent. */
export interface ControlSink {
  isOpen(): boolean;
  /** Returns whether more can be sent right away. */
  send(message: ControlMessage): boolean;
  fail(error: ReeveError): void;
}

/** An agent that listens. */
export interface ControlStream {
  readonly sink: ControlSink;
  /** The last message that it got, or did not want. */
  cursor: number;
  /** Its reader does not keep up: nothing is sent until it says that it does. */
  stalled: boolean;
}

/** A message that waits for its acknowledgement. */
export interface Letter {
  readonly message: ControlMessage;
  /** Null where nobody waits for a receipt. */
  receipt: Receipt | null;
  /** It is durable, so it may leave. */
  released: boolean;
  gone: boolean;
}

/** What an agent is to be told and has not acknowledged, in order, and who listens for it. */
export class Mailbox {
  readonly agent: AgentId;
  /** The number of the newest message. */
  lastSequence: number;
  readonly streams = new Set<ControlStream>();
  /** The receipts that keep the agent from being answered. */
  readonly blocking = new Map<number, Receipt>();
  /** In order; what is gone is passed over, and cleared away when there is much of it. */
  #letters: Letter[] = [];
  #gone = 0;
  readonly #newestOf = new Map<string, Letter>();
  /** Those that a later message for the same operation follows. */
  readonly #overtaken = new Set<Letter>();

  constructor(agent: AgentId, lastSequence = 0) {
    this.agent = agent;
    this.lastSequence = lastSequence;
  }

  get size(): number {
    return this.#letters.length - this.#gone;
  }

  put(letter: Letter): void {
    const { sequence } = letter.message;
    const place = this.#placeOf(sequence);
    const there = this.#letters[place];
    if (there?.message.sequence === sequence) {
      this.#clear(there);
      this.#gone--;
      this.#letters[place] = letter;
    } else this.#letters.splice(place, 0, letter);
    this.lastSequence = Math.max(this.lastSequence, sequence);
    this.#noteNewest(letter);
  }

  find(sequence: number): Letter | undefined {
    const letter = this.#letters[this.#placeOf(sequence)];
    return letter?.message.sequence === sequence && !letter.gone ? letter : undefined;
  }

  /** The first message after this number. */
  next(after: number): Letter | undefined {
    let place = this.#placeOf(after + 1);
    while (this.#letters[place]?.gone === true) place++;
    return this.#letters[place];
  }

  remove(sequence: number): void {
    const letter = this.find(sequence);
    if (letter === undefined) return;
    this.#clear(letter);
    if (this.#gone < 64 || this.#gone * 2 < this.#letters.length) return;
    this.#letters = this.#letters.filter((each) => !each.gone);
    this.#gone = 0;
  }

  /** Which message can best be done without: one that was overtaken, one whose operation is no more, the oldest. */
  mostDispensable(isKnown: (opId: string) => boolean): Letter | undefined {
    const [overtaken] = this.#overtaken;
    if (overtaken !== undefined) return overtaken;
    const left = this.#letters.find((letter) => !letter.gone && !isKnown(letter.message.opId));
    return left ?? this.next(0);
  }

  isOvertaken(letter: Letter): boolean {
    return this.#overtaken.has(letter);
  }

  *letters(): Generator<Letter> {
    for (const letter of this.#letters) if (!letter.gone) yield letter;
  }

  #noteNewest(letter: Letter): void {
    const { opId, sequence } = letter.message;
    const newest = this.#newestOf.get(opId);
    if (newest !== undefined && newest.message.sequence > sequence) {
      this.#overtaken.add(letter);
      return;
    }
    if (newest !== undefined) this.#overtaken.add(newest);
    this.#newestOf.set(opId, letter);
  }

  #clear(letter: Letter): void {
    if (letter.gone) return;
    letter.gone = true;
    this.#gone++;
    this.#overtaken.delete(letter);
    if (this.#newestOf.get(letter.message.opId) === letter) this.#newestOf.delete(letter.message.opId);
  }

  /** Where this number is, or would be. */
  #placeOf(sequence: number): number {
    let low = 0;
    let high = this.#letters.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#letters[middle]?.message.sequence ?? 0) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

