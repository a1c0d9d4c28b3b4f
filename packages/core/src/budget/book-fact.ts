import type { Undo } from '../journal/index.ts';
import { nothingToApply } from '../journal/index.ts';
import type { Balances } from './balances.ts';
import type { BookedEvent } from './budget-slice.ts';

/** What a fact means to balances, whoever keeps them and whenever they learn of it. `seq` is its entry, if that is known. */
export function bookFact(balances: Balances, fact: BookedEvent, seq?: number): Undo {
  switch (fact.type) {
    case 'ops_change':
      if (fact.booked === undefined || fact.op.costMicros === 0) return nothingToApply();
      return balances.settle(fact.agent, fact.op.costMicros, fact.booked, seq);
    case 'budget': {
      const { of, period, percent, amountMicros, day } = fact;
      if (day === undefined) return nothingToApply();
      if (percent !== null) return balances.notice(of, period, percent, day, seq);
      return amountMicros === undefined ? nothingToApply() : balances.correct(of, period, amountMicros, day, seq);
    }
    case 'audit_alert':
      return fact.movedBackTo === undefined ? nothingToApply() : balances.moveBack(fact.movedBackTo, seq);
  }
}
