import { announce } from '../kernel/announce.ts';
import type { Controls } from './controls.ts';
import type { Op } from '../ops/op.ts';
import type { ControlMessage, Letter, Mailbox } from './mailbox.ts';

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
