import type { Meanings } from '../journal/index.ts';
import { noRows, touchesNobody } from '../journal/index.ts';
import type { BalanceKeeper } from './balance-keeper.ts';
import { bookFact } from './balances.ts';
import { balanceWrites } from './budget-rows.ts';
import type { BudgetEvent, BudgetsChange } from './budget-slice.ts';
import type { BudgetsState } from './budgets.ts';
import { balanceName } from './watched-ledger.ts';

type State = Pick<BudgetsState, 'ledger'> & { readonly balances: BalanceKeeper };

export const budgetFacts: Meanings<State, BudgetsChange | BudgetEvent> = {
  balances_saved: {
    apply: ({ balances }, change, how) => balances.apply(change, how),
    touch: touchesNobody,
    // A gateway that took the lead may have saved first. Its mark would speak for these rows, which are older.
    claims: () => ['save of balances'],
    rows: balanceWrites,
  },
  budget: {
    apply: ({ ledger }, event) => bookFact(ledger.balances, event),
    touch: touchesNobody,
    // A refusal changes no balance.
    alters: ({ of, change }) => (change === 'exceeded' ? [] : [balanceName(of)]),
    rows: noRows,
    redo: { balances: ({ balances }, event, { seq }) => balances.redo(event, seq) },
  },
};
