import type { Controls } from './controls.ts';
import type { Agent } from '../tenancy/agent.ts';
import { owesAnswer } from './owes-answer.ts';
import { discardLetter } from './post-message.ts';
import { givenUp, isDue } from '../ops/receipt.ts';
import { saveReceipt } from './save-receipt.ts';

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
