import { idOfPart } from '@reeve/contract/names';
import type { RequestOf } from '../../api/send.ts';
import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

const runStates = ['active', 'held', 'ended'] as const;

/** The page state in the URL. `-` stands for an empty org or team. */
export interface RunsSearch {
  readonly label?: string | undefined;
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly agent_id?: string | undefined;
  /** An email or a sub. */
  readonly user?: string | undefined;
  readonly state?: (typeof runStates)[number] | undefined;
  readonly min_cost_usd?: string | undefined;
  readonly max_cost_usd?: string | undefined;
}

export type RunsFilter = Omit<NonNullable<RequestOf<'listRuns'>['query']>, 'per_page' | 'cursor'>;

export function parseRunsSearch(raw: RawSearch): RunsSearch {
  return {
    label: text(raw['label']),
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    agent_id: text(raw['agent_id']),
    user: text(raw['user']),
    state: oneOf(runStates, raw['state']),
    min_cost_usd: text(raw['min_cost_usd']),
    max_cost_usd: text(raw['max_cost_usd']),
  };
}

/** What the gateway is asked for. */
export function filterOf({ org_id, team_id, ...rest }: RunsSearch): RunsFilter {
  const own = {
    ...rest,
    org_id: org_id === undefined ? undefined : idOfPart(org_id),
    team_id: team_id === undefined ? undefined : idOfPart(team_id),
  };
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}
