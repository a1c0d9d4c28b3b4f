import type { Meanings } from '../journal/index.ts';
import { noRows, touchesNobody } from '../journal/index.ts';
import type { BalanceKeeper } from './balance-keeper.ts';
import { bookFact } from './balances.ts';
import { balanceWrites } from './budget-rows.ts';
import type { BudgetEvent, BudgetsChange } from './budget-slice.ts';
import type { BudgetsState } from './budgets.ts';

type State = Pick<BudgetsState, 'ledger'> & { readonly balances: BalanceKeeper };

export const budgetFacts: Meanings<State, BudgetsChange | BudgetEvent> = {
  balances_saved: {
    apply: ({ balances }, change, how) => balances.apply(change, how),
    touch: touchesNobody,
    rows: balanceWrites,
  },
  budget: {
    apply: ({ ledger }, event) => bookFact(ledger.balances, event),
    touch: touchesNobody,
    rows: noRows,
    redo: { balances: ({ balances }, event, { seq }) => balances.redo(event, seq) },
  },
};
