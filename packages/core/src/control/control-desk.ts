import type { Clock } from '../kernel/clock.ts';
import type { ReeveError } from '../kernel/errors.ts';
import type { AgentId, AgentKey } from '../kernel/agent-id.ts';
import { agentKey } from '../kernel/agent-id.ts';
import type { OpsRegistry } from '../ops/registry.ts';
import type { AgentDirectory } from '../tenancy/directory.ts';
import type { ControlReader, ControlSequence } from './control-reader.ts';
import type { ControlMessage } from './mailbox.ts';
import { Mailbox } from './mailbox.ts';
import type { Receipt } from '../ops/receipt.ts';
import { isDue } from '../ops/receipt.ts';
import { RememberedControls } from './remembered-controls.ts';

export interface ControlSettings {
  /** How long an agent may take to acknowledge. */
  readonly ackMs: number;
  /** Agents without a control stream must acknowledge, too. */
  readonly strict: boolean;
}

export interface ControlPorts {
  readonly ops: OpsRegistry;
  readonly directory: AgentDirectory;
  readonly clock: Clock;
  readonly reader: ControlReader;
  readonly settings: ControlSettings;
  /** Told whenever a receipt is made or its status changes, for the metrics; `before` is null for a new one. */
  readonly onStep: OnControlStep;
}

export type OnControlStep = (receipt: Receipt, before: Receipt | null) => void;

interface Deadline {
  readonly receipt: Receipt;
  readonly dueAt: number;
}

const mostRecent = 10_000;

/**
 * Controls in memory: the mailboxes of agents, the receipts that are open, and until when they may stay so. It holds
 * what is true; the use cases beside it write the same facts to the journal.
 */
export class ControlDesk {
  readonly reader: ControlReader;
  readonly settings: ControlSettings;
  readonly onStep: OnControlStep;
  readonly remembered = new RememberedControls();
  readonly #ops: OpsRegistry;
  readonly #directory: AgentDirectory;
  readonly #clock: Clock;
  readonly #mailboxes = new Map<AgentKey, Mailbox>();
  /** The last numbers of agents that have no mailbox now. */
  readonly #sequences = new Map<AgentKey, number>();
  /** By id, in the order in which they fall due: all have the same time. */
  readonly #deadlines = new Map<string, Deadline>();
  /** Receipts that left a mailbox lately, by agent and sequence: agents tend to come back to them. */
  readonly #recent = new Map<string, Receipt>();

  constructor(ports: ControlPorts) {
    this.reader = ports.reader;
    this.settings = ports.settings;
    this.onStep = ports.onStep;
    this.#ops = ports.ops;
    this.#directory = ports.directory;
    this.#clock = ports.clock;
  }

  mailbox(agent: AgentId): Mailbox {
    const key = agentKey(agent);
    const known = this.#mailboxes.get(key);
    if (known !== undefined) return known;
    const mailbox = new Mailbox(agent, this.#sequences.get(key) ?? 0);
    this.#mailboxes.set(key, mailbox);
    this.#sequences.delete(key);
    return mailbox;
  }

  /** Gives up the mailbox of an agent that has left, where nothing is in it; its numbers go on should it come back. */
  discardEmpty(key: AgentKey): void {
    const mailbox = this.#mailboxes.get(key);
    if (mailbox === undefined || mailbox.size + mailbox.streams.size + mailbox.blocking.size > 0) return;
    this.#mailboxes.delete(key);
    this.restoreSequence({ agent: mailbox.agent, sequence: mailbox.lastSequence });
  }

  restoreSequence({ agent, sequence }: ControlSequence): void {
    if (sequence > 0) this.#sequences.set(agentKey(agent), sequence);
  }

  find(key: AgentKey): Mailbox | undefined {
    return this.#mailboxes.get(key);
  }

  get streamCount(): number {
    let count = 0;
    for (const { streams } of this.#mailboxes.values()) count += streams.size;
    return count;
  }

  isBlocked(key: AgentKey): boolean {
    return (this.#mailboxes.get(key)?.blocking.size ?? 0) > 0;
  }

  /** Whether an agent has something to answer to, or is kept from being answered until it does. */
  owesAnything(key: AgentKey): boolean {
    const mailbox = this.#mailboxes.get(key);
    return mailbox !== undefined && mailbox.size + mailbox.blocking.size > 0;
  }

  hasStream(key: AgentKey): boolean {
    return (this.#mailboxes.get(key)?.streams.size ?? 0) > 0;
  }

  /** Ends what listens for an agent, as when its credential has ended. */
  endStreams(key: AgentKey, error: ReeveError): void {
    const streams = this.#mailboxes.get(key)?.streams ?? new Set();
    for (const stream of [...streams]) {
      streams.delete(stream);
      stream.sink.fail(error);
    }
  }

  /** A receipt as it is now, where it is in memory. */
  receiptOf(agent: AgentId, sequence: number): Receipt | undefined {
    const mailbox = this.#mailboxes.get(agentKey(agent));
    const waiting = mailbox?.find(sequence)?.receipt ?? mailbox?.blocking.get(sequence);
    return waiting ?? this.#recent.get(nameOf(agent, sequence));
  }

  /** Makes memory agree with a receipt: mailbox, block, deadline, and the operation that shows it. */
  place(receipt: Receipt, released = true): void {
    const { agent: id, sequence } = receipt;
    const mailbox = this.mailbox(id);
    const letter = mailbox.find(sequence);
    if (!receipt.waiting) {
      mailbox.remove(sequence);
      this.#remember(receipt);
    } else if (letter === undefined) {
      mailbox.put({ message: messageOf(receipt), receipt, released, gone: false });
    } else letter.receipt = receipt;

    if (receipt.blocks) mailbox.blocking.set(sequence, receipt);
    else mailbox.blocking.delete(sequence);
    if (!isDue(receipt)) this.#deadlines.delete(receipt.id);
    else {
      const dueAt = this.#deadlines.get(receipt.id)?.dueAt ?? this.#clock.elapsed() + this.settings.ackMs;
      this.#deadlines.set(receipt.id, { receipt, dueAt });
    }
    const agent = this.#directory.find(id);
    if (agent === undefined) return;
    agent.blocked = mailbox.blocking.size > 0;
    const op = this.#ops.find(agent, receipt.opId);
    if (op?.control?.id === receipt.id) op.control = receipt;
  }

  /** Takes back that there ever was such a receipt. */
  drop(receipt: Receipt): void {
    const mailbox = this.mailbox(receipt.agent);
    mailbox.remove(receipt.sequence);
    mailbox.lastSequence = receipt.sequence - 1;
    this.#deadlines.delete(receipt.id);
    this.#recent.delete(nameOf(receipt.agent, receipt.sequence));
  }

  /** The receipts whose time to be acknowledged is over, the longest overdue first. */
  *overdue(): Generator<Receipt> {
    const now = this.#clock.elapsed();
    for (const { receipt, dueAt } of this.#deadlines.values()) {
      if (dueAt > now) return;
      yield receipt;
    }
  }

  #remember(receipt: Receipt): void {
    const name = nameOf(receipt.agent, receipt.sequence);
    this.#recent.delete(name);
    this.#recent.set(name, receipt);
    if (this.#recent.size <= mostRecent) return;
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}

function nameOf(agent: AgentId, sequence: number): string {
  return `${agentKey(agent)}#${sequence}`;
}

function messageOf({ opId, action, sequence, reason, requestedAt, id }: Receipt): ControlMessage {
  return { opId, signal: action, sequence, reason, issuedAt: requestedAt, controlId: id };
}
