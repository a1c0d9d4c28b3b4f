import type { RawSearch } from '../../shell/search.ts';
import { flag, oneOf, text, texts } from '../../shell/search.ts';

/** What of the page lives in its URL. An org or team of `-` is an empty one. */
export interface BudgetsSearch {
  readonly q?: string | undefined;
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  /** Only what has used up 80 percent of its cap or more. */
  readonly near?: true | undefined;
  /** Days, unless it says otherwise. */
  readonly period?: 'month' | undefined;
  /** The budget whose drawer is open: `*` for everybody's, else `org`, `org/team` or `org/team/agent`. */
  readonly of?: string | undefined;
  /** The orgs and teams that are open in the tree. */
  readonly open?: readonly string[] | undefined;
}

export function parseBudgetsSearch(raw: RawSearch): BudgetsSearch {
  return {
    q: text(raw['q']),
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    near: flag(raw['near']),
    period: oneOf(['month'], raw['period']),
    of: text(raw['of']),
    open: texts(raw['open']),
  };
}
