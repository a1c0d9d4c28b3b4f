import type { Meanings } from '../journal/index.ts';
import { noRows, touchesNobody } from '../journal/index.ts';
import { bookFact } from './book-fact.ts';
import type { BalanceKeeper } from './balance-keeper.ts';
import { balanceWrites } from './budget-rows.ts';
import type { BudgetEvent, BudgetsChange } from './budget-slice.ts';
import type { Budgets } from './budgets.ts';

type State = Pick<Budgets, 'ledger'> & { readonly balances: BalanceKeeper };

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
  },
};
