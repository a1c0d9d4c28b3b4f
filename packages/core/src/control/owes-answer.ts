import type { Controls } from './controls.ts';
import type { Receipt } from '../ops/receipt.ts';

/**
 * Whether an agent must answer to a stop: where all must, where it had listened when the stop was asked for or has since,
 * or where the stop was written to a stream of it. Registering again or leaving takes none of this back.
 */
export function owesAnswer(gov: Controls, receipt: Receipt): boolean {
  const { agent, action, owed, deliveredAt } = receipt;
  if (action === 'resume') return false;
  if (gov.control.settings.strict || owed || deliveredAt !== null) return true;
  return gov.directory.find(agent)?.record.controlled === true;
}
