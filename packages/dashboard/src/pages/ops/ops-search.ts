import type { Entrance } from '@reeve/contract/names';
import { entrances } from '@reeve/contract/names';
import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

/** The default is `in_flight`. */
export const stateFilters = [
  'all',
  'in_flight',
  'pending',
  'running',
  'paused',
  'ended',
  'completing',
  'terminated',
] as const;
export type StateFilter = (typeof stateFilters)[number];

export const sortNames = ['agent', 'team', 'org', 'action', 'resource', 'summary', 'state', 'age', 'cost'] as const;
export type SortName = (typeof sortNames)[number];
/** A leading `-` reverses the order. */
export type Sort = SortName | `-${SortName}`;

/** The page state in the URL. `-` stands for an empty org or team. */
export interface OpsSearch {
  /** The operation whose drawer is open. */
  readonly op?: string | undefined;
  readonly state?: StateFilter | undefined;
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly door?: Entrance | undefined;
  readonly q?: string | undefined;
  readonly sort?: Sort | undefined;
  /** The scoped control whose progress is shown. */
  readonly control?: string | undefined;
}

export type OpsFilter = Omit<OpsSearch, 'op' | 'control'>;

export function parseOpsSearch(raw: RawSearch): OpsSearch {
  return {
    op: text(raw['op']),
    state: oneOf(stateFilters, raw['state']),
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    agent_id: text(raw['agent_id']),
    run_id: text(raw['run_id']),
    door: oneOf(entrances, raw['door']),
    q: text(raw['q']),
    sort: oneOf<Sort>([...sortNames, ...sortNames.map((name) => `-${name}` as const)], raw['sort']),
    control: text(raw['control']),
  };
}

/** The part that a saved view keeps: the filters and the order, but not the open operation. */
export function filterOf({ state, org_id, team_id, agent_id, run_id, door, q, sort }: OpsSearch): OpsFilter {
  return { state, org_id, team_id, agent_id, run_id, door, q, sort };
}
