import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text, texts } from '../../shell/search.ts';

const conditions = ['active', 'idle', 'silent', 'suspended'] as const;
const columns = ['agent', 'org', 'team', 'status', 'in_flight', 'spent', 'last_seen'] as const;
type SortName = (typeof columns)[number];
/** A leading `-` reverses the order. */
export type Sort = SortName | `-${SortName}`;

/** The page state in the URL. `-` stands for an empty org or team. */
export interface TopologySearch {
  readonly q?: string | undefined;
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly status?: (typeof conditions)[number] | undefined;
  /** Only agents that never asked for this. */
  readonly uncovered?: 'tools' | 'model_calls' | undefined;
  /** The agent whose drawer is open, by its path. */
  readonly agent?: string | undefined;
  readonly view?: 'graph' | 'table' | undefined;
  readonly sort?: Sort | undefined;
  /** The orgs and teams open in the graph. Undefined until somebody opens or closes one. */
  readonly open?: readonly string[] | undefined;
}

/** Means that nothing is open. An empty list could not say so in a URL. */
export const nothingOpen = '/';

export function parseTopologySearch(raw: RawSearch): TopologySearch {
  return {
    q: text(raw['q']),
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    status: oneOf(conditions, raw['status']),
    uncovered: oneOf(['tools', 'model_calls'], raw['uncovered']),
    agent: text(raw['agent']),
    view: oneOf(['graph', 'table'], raw['view']),
    sort: oneOf<Sort>([...columns, ...columns.map((name) => `-${name}` as const)], raw['sort']),
    open: texts(raw['open']),
  };
}
