import type { Controls } from './controls.ts';
import { leaveUnconfirmed } from './leave-unconfirmed.ts';
import { owesAnswer } from './owes-answer.ts';
import { unconfirmed } from '../ops/receipt.ts';

/**
 * Marks up to `most` receipts that were not acknowledged in time, and returns how many. An agent that could have
 * acknowledged a stop, because it has listened since it was registered, is not answered any more until it does.
 */
export function timeOutControls(gov: Controls, most: number): number {
  let count = 0;
  for (const receipt of gov.control.overdue()) {
    if (count === most) break;
    leaveUnconfirmed(gov, receipt, unconfirmed(receipt, 'not acknowledged in time', owesAnswer(gov, receipt)));
    count++;
  }
  return count;
}
