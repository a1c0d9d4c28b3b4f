import type { Controls, OutboxState } from './controls.ts';
import type { QueuedMessage, KnownOutbox, ControlStream, ControlSink } from './outbox.ts';
import { leaveUnconfirmed, mustAnswer, saveReceipt } from './receipts.ts';
import type { Applying, Undo } from '../journal/index.ts';
import { ownWork } from '../journal/index.ts';
import { announce } from '../kernel/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { delivered, isDue, givenUp, lifted } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { agentWarrant, authenticateAgent, credentialEnded, lastingProof, touchAgent } from '../tenancy/index.ts';

/**
 * Drops the messages of an agent that leaves, because its operations leave, too. A stop that it owes an answer for
 * stays, with the time that is left. So nobody escapes a stop by registering again.
 */
export function closeOutbox(gov: Controls, agent: Agent): void {
  const outbox = gov.control.find(agent.key);
  if (outbox === undefined) return;
  for (const queued of [...outbox.queued()]) {
    const { receipt } = queued;
    if (receipt === null) discardMessage(gov, outbox, queued);
    else if (isDue(receipt) && mustAnswer(gov, receipt)) saveReceipt(gov, receipt, { ...receipt, owed: true });
    else if (!receipt.blocks) leaveUnconfirmed(gov, receipt, givenUp(receipt, 'agent deregistered'));
  }
}

/**
 * What a delegate has not confirmed stands in its receipts, and blocks nobody who has its id later. All of it is of delegates:
 * to the id of an agent of its own that owes an answer, nobody delegates.
 */
export function forgiveStops(gov: Controls, { key }: Agent): void {
  const outbox = gov.control.find(key);
  if (outbox === undefined) return;
  const queued = [...outbox.queued()].flatMap(({ receipt }) => receipt ?? []);
  for (const receipt of new Set([...queued, ...outbox.blocking.values()])) {
    const after = lifted(givenUp(receipt, 'the agent of a workload has its id'));
    leaveUnconfirmed(gov, receipt, after);
  }
}

/**
 * Puts a message into the outbox of an agent, and returns the inverse. The message leaves once it is durable, so that an
 * agent never hears of what may be taken back. A message that is there already gets the new receipt.
 */
export function queueMessage(
  gov: OutboxState,
  agent: AgentId,
  { message, receipt }: Pick<QueuedMessage, 'message' | 'receipt'>,
  { isHere, onDurable }: Applying,
): Undo {
  const outbox = gov.control.outbox(agent);
  const known = outbox.find(message.sequence);
  if (known !== undefined) {
    const { receipt: before } = known;
    known.receipt = receipt;
    return () => {
      known.receipt = before;
    };
  }
  const queued: QueuedMessage = { message, receipt, released: !isHere, gone: false };
  const undo = outbox.put(queued);
  onDurable(() => {
    queued.released = true;
    sendAll(gov, outbox);
  });
  return undo;
}

/** A message without a receipt need not be sent any more. Whoever posted it takes it back. */
export function discardMessage({ reactions }: Controls, { agent }: KnownOutbox, { message }: QueuedMessage): void {
  announce(reactions.messageGone, { agent, sequence: message.sequence });
}

function sendAll(gov: Controls, outbox: KnownOutbox): void {
  for (const stream of outbox.streams) sendWaiting(gov, outbox, stream);
}

/**
 * Sends what a stream has not received yet, in order, while its reader keeps up. A stream has no queue: if it falls
 * behind, it reads on from the outbox.
 */
function sendWaiting(gov: Controls, outbox: KnownOutbox, stream: ControlStream): void {
  while (!stream.stalled && stream.sink.isOpen()) {
    const queued = outbox.next(stream.cursor);
    if (queued === undefined || !queued.released) return;
    stream.cursor = queued.message.sequence;
    stream.stalled = !stream.sink.send(queued.message);
    if (!stream.waitsOnly) noteDelivered(gov, queued);
  }
}

function noteDelivered(gov: Controls, queued: QueuedMessage): void {
  if (queued.receipt === null) return;
  const at = gov.clock.now();
  gov.journal
    .turn(ownWork, () => {
      // Another gateway may have had an answer to it by now.
      const receipt = queued.gone ? null : queued.receipt;
      const after = receipt === null ? null : delivered(receipt, at);
      if (receipt !== null && after !== null && after !== receipt) saveReceipt(gov, receipt, after);
    })
    // Nobody waits for it: if it cannot be written, the message counts as not delivered yet.
    .catch(() => undefined);
}

export interface SubscribeRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  /** The agent does not want messages up to this one again. */
  readonly afterSequence: number;
  /** The agent listens for decisions alone: it carries out no controls, so it need not confirm any. */
  readonly waitsOnly?: boolean;
}

export interface ControlSubscription {
  /** The reader keeps up again. */
  drained(): void;
  close(): void;
}

/**
 * Subscribes an agent. It gets all unacknowledged messages in order, then new ones. An `afterSequence` beyond the last
 * message hides no later message.
 */
export async function subscribeControl(
  gov: Controls,
  request: SubscribeRequest,
  sink: ControlSink,
): Promise<ControlSubscription> {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  const { waitsOnly = false } = request;
  const isProven = lastingProof(gov, agent, request.token);
  if (!waitsOnly && !agent.record.controlled) {
    await gov.journal.turn(agentWarrant(gov, request.agentId, request.token), () => {
      // The token may have been renewed since. What it came with still works for a while.
      const { id, tokenHash } = agent.record;
      if (tokenHash !== null) gov.journal.apply({ kind: 'agent_controlled', id, tokenHash });
    });
    if (!isProven() || gov.directory.find(agent.record.id) !== agent) throw credentialEnded();
  }
  const outbox = gov.control.outbox(agent.record.id);
  const cursor = Math.min(request.afterSequence, outbox.lastSequence);
  const stream: ControlStream = { sink, cursor, stalled: false, waitsOnly, isProven };
  outbox.streams.add(stream);
  sendWaiting(gov, outbox, stream);
  return {
    drained: () => {
      stream.stalled = false;
      if (outbox.streams.has(stream)) sendWaiting(gov, outbox, stream);
    },
    close: () => {
      if (outbox.streams.delete(stream)) touchAgent(gov, agent);
    },
  };
}
