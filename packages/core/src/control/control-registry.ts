import type { Applying, Undo } from '../journal/index.ts';
import type { Clock, ReeveError, AgentId, AgentKey } from '../kernel/index.ts';
import { agentKey, RecentMap } from '../kernel/index.ts';
import type { Receipt } from '../ops/index.ts';
import type { ControlReader, ControlSequence } from './control-slice.ts';
import type { KnownOutbox } from './outbox.ts';
import { Outbox } from './outbox.ts';
import { isDue } from '../ops/index.ts';
import { RememberedControls } from './bulk-control.ts';
import { Departures } from './departures.ts';
import { RunControls } from './run-controls.ts';

export interface ControlSettings {
  /** How long an agent may take to acknowledge. */
  readonly ackMs: number;
  /** Agents without a control stream must acknowledge, too. */
  readonly strict: boolean;
}

export interface ControlPorts {
  readonly clock: Clock;
  readonly reader: ControlReader;
  readonly settings: ControlSettings;
  /** Called once a new receipt or a new status is durable, for the metrics. `before` is null for a new receipt. */
  readonly onStep: OnControlStep;
}

export type OnControlStep = (receipt: Receipt, before: Receipt | null) => void;

interface Deadline {
  readonly receipt: Receipt;
  readonly dueAt: number;
}

const mostRecent = 10_000;

type Unchanged<Part> = Omit<Part, 'put' | 'remove'>;

/** What rules may see of controls. */
export interface KnownControls
  extends Omit<ControlRegistry, keyof Narrowed | 'countAbove' | 'countTo' | 'remember' | 'awaitAnswer'>,
    Narrowed {}

interface Narrowed {
  readonly remembered: Unchanged<RememberedControls>;
  readonly runs: Unchanged<RunControls>;
  readonly departures: Unchanged<Departures>;
  outbox(agent: AgentId): KnownOutbox;
  find(key: AgentKey): KnownOutbox | undefined;
}

/**
 * Controls in memory: the outboxes of agents, the open receipts, and their deadlines. The registry holds the present
 * state. Facts change it (`control-facts.ts`).
 */
export class ControlRegistry {
  readonly reader: ControlReader;
  readonly settings: ControlSettings;
  readonly onStep: OnControlStep;
  readonly remembered = new RememberedControls();
  /** The controls of runs, which hold for checks to come. */
  readonly runs = new RunControls();
  readonly departures = new Departures();
  /** The suspensions of scopes that this gateway is imposing or lifting. */
  readonly settling = new Set<string>();
  readonly #clock: Clock;
  readonly #outboxes = new Map<AgentKey, Outbox>();
  /** The last sequence numbers of agents that have no outbox now. */
  readonly #sequences = new Map<AgentKey, number>();
  /** Every sequence number to come is above it. */
  #floor = 0;
  /** By receipt id, in the order of due times: all receipts have the same time. */
  readonly #deadlines = new Map<string, Deadline>();
  /** Receipts that left an outbox lately, by agent and sequence. Agents tend to come back to them. */
  readonly #recent = new RecentMap<Receipt>(mostRecent);

  constructor(ports: ControlPorts) {
    this.reader = ports.reader;
    this.settings = ports.settings;
    this.onStep = ports.onStep;
    this.#clock = ports.clock;
  }

  outbox(agent: AgentId): Outbox {
    const key = agentKey(agent);
    const known = this.#outboxes.get(key);
    if (known !== undefined) return known;
    const outbox = new Outbox(agent, Math.max(this.#floor, this.#sequences.get(key) ?? 0));
    this.#outboxes.set(key, outbox);
    this.#sequences.delete(key);
    return outbox;
  }

  /**
   * Makes all sequence numbers to come greater than this one. Agents skip messages whose number they have seen, and
   * nobody knows which numbers were used after the backup that a store was restored from.
   */
  countAbove(floor: number): void {
    this.#floor = floor;
  }

  /** Removes the empty outbox of an agent that has left. Its sequence numbers continue if the agent comes back. */
  discardEmpty(key: AgentKey): void {
    const outbox = this.#outboxes.get(key);
    if (outbox === undefined || outbox.size + outbox.streams.size + outbox.blocking.size > 0) return;
    this.#outboxes.delete(key);
    this.#setLast(key, outbox.lastSequence);
  }

  /** Makes the next sequence number of an agent greater than this one, and returns how to take that back. */
  countTo({ agent, sequence }: ControlSequence): Undo {
    const key = agentKey(agent);
    const before = this.#lastOf(key);
    if (sequence <= before) return () => undefined;
    this.#setLast(key, sequence);
    return () => {
      if (this.#lastOf(key) === sequence) this.#setLast(key, before);
    };
  }

  #lastOf(key: AgentKey): number {
    return this.#outboxes.get(key)?.lastSequence ?? this.#sequences.get(key) ?? 0;
  }

  #setLast(key: AgentKey, sequence: number): void {
    const outbox = this.#outboxes.get(key);
    if (outbox !== undefined) outbox.lastSequence = sequence;
    else if (sequence > 0) this.#sequences.set(key, sequence);
    else this.#sequences.delete(key);
  }

  find(key: AgentKey): Outbox | undefined {
    return this.#outboxes.get(key);
  }

  get streamCount(): number {
    let count = 0;
    for (const { streams } of this.#outboxes.values()) count += streams.size;
    return count;
  }

  isBlocked(key: AgentKey): boolean {
    return (this.#outboxes.get(key)?.blocking.size ?? 0) > 0;
  }

  /** Whether an agent has messages to acknowledge, or is blocked until it does. */
  hasUnanswered(key: AgentKey): boolean {
    const outbox = this.#outboxes.get(key);
    return outbox !== undefined && outbox.size + outbox.blocking.size > 0;
  }

  hasStream(key: AgentKey): boolean {
    return (this.#outboxes.get(key)?.streams.size ?? 0) > 0;
  }

  /** Whether an agent has a stream that does not only wait for decisions. */
  carriesOut(key: AgentKey): boolean {
    return [...(this.#outboxes.get(key)?.streams ?? [])].some(({ waitsOnly }) => !waitsOnly);
  }

  /** Ends the streams of an agent, for example when its credential has ended. */
  endStreams(key: AgentKey, error: ReeveError): void {
    const streams = this.#outboxes.get(key)?.streams ?? new Set();
    for (const stream of [...streams]) {
      streams.delete(stream);
      stream.sink.fail(error);
    }
  }

  /** Ends the streams whose credential has ended by itself. */
  endUnproven(error: () => ReeveError): void {
    for (const { streams } of this.#outboxes.values()) {
      for (const stream of streams) {
        if (stream.isProven()) continue;
        streams.delete(stream);
        stream.sink.fail(error());
      }
    }
  }

  /** The present version of a receipt, if it is in memory. */
  receiptOf(agent: AgentId, sequence: number): Receipt | undefined {
    const outbox = this.#outboxes.get(agentKey(agent));
    const waiting = outbox?.find(sequence)?.receipt ?? outbox?.blocking.get(sequence);
    return waiting ?? this.#recent.get(nameOf(agent, sequence));
  }

  /** Remembers a receipt whose message has left the outbox, and returns how to take that back. */
  remember(receipt: Receipt): Undo {
    const name = nameOf(receipt.agent, receipt.sequence);
    const before = this.#recent.get(name);
    this.#recent.set(name, receipt);
    return () => {
      if (before === undefined) this.#recent.delete(name);
      else this.#recent.set(name, before);
    };
  }

  /**
   * Gives an agent time to answer to a receipt, if it still has any, and returns the inverse. A deadline that is met is
   * kept until that is durable: the inverse may bring it back.
   */
  awaitAnswer(receipt: Receipt, { onDurable }: Applying): Undo {
    const { id } = receipt;
    const before = this.#deadlines.get(id);
    if (before === undefined && !isDue(receipt)) return () => undefined;
    this.#deadlines.set(id, { receipt, dueAt: before?.dueAt ?? this.#clock.elapsed() + this.settings.ackMs });
    if (!isDue(receipt)) onDurable(() => this.#deadlines.delete(id));
    return () => {
      if (before === undefined) this.#deadlines.delete(id);
      else if (this.#deadlines.has(id)) this.#deadlines.set(id, before);
    };
  }

  /** The receipts that were not acknowledged in time, the longest overdue first. */
  *overdue(listenedSince: number): Generator<Receipt> {
    const now = this.#clock.elapsed();
    if (now - listenedSince < this.settings.ackMs) return;
    for (const { receipt, dueAt } of this.#deadlines.values()) {
      if (dueAt > now) return;
      if (isDue(receipt)) yield receipt;
    }
  }
}

function nameOf(agent: AgentId, sequence: number): string {
  return `${agentKey(agent)}#${sequence}`;
}
