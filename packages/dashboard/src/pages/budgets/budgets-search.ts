import type { RawSearch } from '../../shell/search.ts';
import type { BudgetOrder } from './budget-order.ts';
import { budgetSorts } from './budget-order.ts';
import { flag, oneOf, text, texts } from '../../shell/search.ts';

/** The page state in the URL. `-` stands for an empty org or team. */
export interface BudgetsSearch {
  readonly q?: string | undefined;
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  /** Only budgets that have used at least 80 percent of their cap. */
  readonly near?: true | undefined;
  /** Days by default. */
  readonly period?: 'week' | 'month' | undefined;
  /** The budget whose drawer is open: `*` for everybody's, else `org`, `org/team` or `org/team/agent`. */
  readonly of?: string | undefined;
  /** Lists the agents in this order, in place of the tree. */
  readonly sort?: BudgetOrder | undefined;
  /** The orgs and teams open in the tree. */
  readonly open?: readonly string[] | undefined;
}

export function parseBudgetsSearch(raw: RawSearch): BudgetsSearch {
  return {
    q: text(raw['q']),
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    near: flag(raw['near']),
    period: oneOf(['week', 'month'], raw['period']),
    of: text(raw['of']),
    sort: oneOf<BudgetOrder>([...budgetSorts, ...budgetSorts.map((name) => `-${name}` as const)], raw['sort']),
    open: texts(raw['open']),
  };
}
