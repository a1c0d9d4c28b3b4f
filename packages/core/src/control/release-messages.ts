import type { Controls } from './controls.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import type { ControlStream, Letter, Mailbox } from './mailbox.ts';
import { delivered } from '../ops/receipt.ts';
import { saveReceipt } from './save-receipt.ts';

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
