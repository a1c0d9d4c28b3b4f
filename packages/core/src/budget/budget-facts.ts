import type { Meanings } from '../journal/index.ts';
import { noRows, nothingToApply, touchesNobody } from '../journal/index.ts';
import type { BalanceKeeper } from './balance-keeper.ts';
import { budgetRows } from './budget-rows.ts';
import type { BudgetEvent, BudgetsChange } from './budget-slice.ts';
import type { Budgets } from './budgets.ts';

type State = Pick<Budgets, 'ledger'> & { readonly balances: BalanceKeeper };

export const budgetFacts: Meanings<State, BudgetsChange | BudgetEvent> = {
  balances_saved: {
    apply: ({ balances }, change) => {
      balances.followSave(change);
      return nothingToApply();
    },
    touch: touchesNobody,
    rows: budgetRows.balances_saved,
  },
  budget: {
    apply: ({ ledger }, { of, period, percent, amountMicros, day }) => {
      if (day === undefined) return nothingToApply();
      if (percent !== null) ledger.followNotice(of, period, percent, day);
      if (amountMicros !== undefined) ledger.followCorrection(of, period, amountMicros, day);
      return nothingToApply();
    },
    touch: touchesNobody,
    rows: noRows,
  },
};
