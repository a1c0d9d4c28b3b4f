import type { Clock, ReeveError, AgentId, AgentKey } from '../kernel/index.ts';
import { agentKey, RecentMap } from '../kernel/index.ts';
import type { OpsRegistry, Receipt } from '../ops/index.ts';
import type { KnownAgents } from '../tenancy/index.ts';
import type { ControlReader, ControlSequence } from './control-slice.ts';
import type { ControlMessage } from './outbox.ts';
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
  readonly ops: OpsRegistry;
  readonly directory: KnownAgents;
  readonly clock: Clock;
  readonly reader: ControlReader;
  readonly settings: ControlSettings;
  /** Called when a receipt is made or its status changes, for the metrics. `before` is null for a new receipt. */
  readonly onStep: OnControlStep;
}

export type OnControlStep = (receipt: Receipt, before: Receipt | null) => void;

interface Deadline {
  readonly receipt: Receipt;
  readonly dueAt: number;
}

const mostRecent = 10_000;

/**
 * Controls in memory: the outboxes of agents, the open receipts, and their deadlines. The registry holds the present
 * state. The use cases write the same facts to the journal.
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
  readonly #ops: OpsRegistry;
  readonly #directory: KnownAgents;
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
    this.#ops = ports.ops;
    this.#directory = ports.directory;
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
    this.restoreSequence({ agent: outbox.agent, sequence: outbox.lastSequence });
  }

  restoreSequence({ agent, sequence }: ControlSequence): void {
    if (sequence > 0) this.#sequences.set(agentKey(agent), sequence);
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
  owesAnything(key: AgentKey): boolean {
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

  /** The present version of a receipt, if it is in memory. */
  receiptOf(agent: AgentId, sequence: number): Receipt | undefined {
    const outbox = this.#outboxes.get(agentKey(agent));
    const waiting = outbox?.find(sequence)?.receipt ?? outbox?.blocking.get(sequence);
    return waiting ?? this.#recent.get(nameOf(agent, sequence));
  }

  /** Updates memory to match a receipt: outbox, block, deadline, and the operation that shows it. */
  place(receipt: Receipt, released = true): void {
    const { agent: id, sequence } = receipt;
    const outbox = this.outbox(id);
    const queued = outbox.find(sequence);
    if (!receipt.waiting) {
      outbox.remove(sequence);
      this.#remember(receipt);
    } else if (queued === undefined) {
      outbox.put({ message: messageOf(receipt), receipt, released, gone: false });
    } else queued.receipt = receipt;

    if (receipt.blocks) outbox.blocking.set(sequence, receipt);
    else outbox.blocking.delete(sequence);
    if (!isDue(receipt)) this.#deadlines.delete(receipt.id);
    else {
      const dueAt = this.#deadlines.get(receipt.id)?.dueAt ?? this.#clock.elapsed() + this.settings.ackMs;
      this.#deadlines.set(receipt.id, { receipt, dueAt });
    }
    const agent = this.#directory.find(id);
    if (agent === undefined) return;
    agent.blocked = outbox.blocking.size > 0;
    const op = this.#ops.find(agent, receipt.opId);
    if (op?.control?.id === receipt.id) this.#ops.change(op, { control: receipt });
  }

  /** Undoes the creation of a receipt. */
  drop(receipt: Receipt): void {
    const outbox = this.outbox(receipt.agent);
    outbox.remove(receipt.sequence);
    outbox.lastSequence = receipt.sequence - 1;
    this.#deadlines.delete(receipt.id);
    this.#recent.delete(nameOf(receipt.agent, receipt.sequence));
  }

  /** The receipts that were not acknowledged in time, the longest overdue first. */
  *overdue(listenedSince: number): Generator<Receipt> {
    const now = this.#clock.elapsed();
    if (now - listenedSince < this.settings.ackMs) return;
    for (const { receipt, dueAt } of this.#deadlines.values()) {
      if (dueAt > now) return;
      yield receipt;
    }
  }

  #remember(receipt: Receipt): void {
    this.#recent.set(nameOf(receipt.agent, receipt.sequence), receipt);
  }
}

function nameOf(agent: AgentId, sequence: number): string {
  return `${agentKey(agent)}#${sequence}`;
}

function messageOf({ opId, action, sequence, reason, requestedAt, id }: Receipt): ControlMessage {
  return { opId, signal: action, sequence, reason, issuedAt: requestedAt, controlId: id };
}
