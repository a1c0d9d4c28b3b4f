import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { Budgets } from './budgets.ts';

/**
 * Where the clock was ahead and has been right for a while, budgets go back to its day. That is on record, so that the log
 * adds up to the same, and told to whoever operates the gateway.
 */
export function followClock(gov: Budgets): boolean {
  const moved = gov.ledger.goBack();
  if (moved === undefined) return false;
  const { undo, from, to } = moved;
  const at = gov.clock.now();
  gov.journal.onFailure(undo);
  gov.journal.record(
    draftOf({
      at,
      eventType: 'BudgetDayMovedBack',
      actor: system,
      reason: `the clock had shown ${from} and shows ${to}: what was booked later counts for ${to}`,
      payload: canonicalJson({ from, to }),
    }),
  );
  gov.journal.publish({
    type: 'audit_alert',
    at,
    agent: null,
    alert: 'clock_set_back',
    details: { from, to },
    movedBackTo: to,
  });
  return true;
}
