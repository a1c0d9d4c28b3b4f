import type { Controls } from './controls.ts';
import type { ControlMessage, Letter, Mailbox, ControlStream } from './mailbox.ts';
import { saveReceipt, owesAnswer } from './receipts.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { announce } from '../kernel/announce.ts';
import type { Op } from '../ops/op.ts';
import { delivered, isDue, givenUp } from '../ops/receipt.ts';
import type { Agent } from '../tenancy/agent.ts';

/**
 * The agent leaves, and with it the operations that its messages were about: they are given up. A stop that it owes an
 * answer for stays, with the time that it has left, so that nobody escapes it by registering again.
 */
export function closeMailbox(gov: Controls, agent: Agent): void {
  const mailbox = gov.control.find(agent.key);
  if (mailbox === undefined) return;
  for (const letter of [...mailbox.letters()]) {
    const { receipt } = letter;
    if (receipt === null) discardLetter(gov, mailbox, letter);
    else if (isDue(receipt) && owesAnswer(gov, receipt)) saveReceipt(gov, receipt, { ...receipt, owed: true });
    else if (!receipt.blocks) saveReceipt(gov, receipt, givenUp(receipt, 'agent deregistered'));
  }
}

/**
 * Puts a message that needs no receipt into the mailbox of an operation's agent. It leaves by `releaseMessages`, once
 * this turn is durable. It does not survive a restart: whoever posts it posts it again.
 */
export function postMessage(gov: Controls, op: Op, signal: ControlMessage['signal'], reason: string): ControlMessage {
  const agent = op.owner.record.id;
  const mailbox = gov.control.mailbox(agent);
  const sequence = mailbox.lastSequence + 1;
  const message = { opId: op.opId, signal, sequence, reason, issuedAt: gov.clock.now(), controlId: '' };
  mailbox.put({ message, receipt: null, released: false, gone: false });
  gov.journal.onFailure(() => {
    mailbox.remove(sequence);
    mailbox.lastSequence = sequence - 1;
  });
  gov.journal.write({ kind: 'control_sequence_saved', sequence: { agent, sequence } });
  return message;
}

/** Takes a message without a receipt out of a mailbox. */
export function discardLetter(gov: Controls, mailbox: Mailbox, letter: Letter): void {
  mailbox.remove(letter.message.sequence);
  gov.journal.onFailure(() => mailbox.put({ ...letter, gone: false }));
  announce(gov.reactions.messageGone, { agent: mailbox.agent, sequence: letter.message.sequence });
}

/** Lets messages leave that have become durable: to whoever listens now, and to whoever comes later. */
export function releaseMessages(
  gov: Controls,
  messages: Iterable<{ readonly agent: AgentId; readonly sequence: number }>,
): void {
  const mailboxes = new Set<Mailbox>();
  for (const { agent, sequence } of messages) {
    const mailbox = gov.control.mailbox(agent);
    const letter = mailbox.find(sequence);
    if (letter !== undefined) letter.released = true;
    mailboxes.add(mailbox);
  }
  for (const mailbox of mailboxes) for (const stream of mailbox.streams) sendWaiting(gov, mailbox, stream);
}

/**
 * Sends what a stream has not got yet, in order, for as long as its reader keeps up. Nothing is queued for a stream: one
 * that falls behind reads on from the mailbox.
 */
export function sendWaiting(gov: Controls, mailbox: Mailbox, stream: ControlStream): void {
  while (!stream.stalled && stream.sink.isOpen()) {
    const letter = mailbox.next(stream.cursor);
    if (letter === undefined || !letter.released) return;
    stream.cursor = letter.message.sequence;
    stream.stalled = !stream.sink.send(letter.message);
    noteDelivered(gov, letter);
  }
}

function noteDelivered(gov: Controls, { receipt }: Letter): void {
  if (receipt === null) return;
  const after = delivered(receipt, gov.clock.now());
  if (after !== receipt) saveReceipt(gov, receipt, after);
}
