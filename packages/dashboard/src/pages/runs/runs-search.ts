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
  readonly state?: (typeof runStates)[number] | undefined;
}

export type RunsFilter = Omit<NonNullable<RequestOf<'listRuns'>['query']>, 'per_page' | 'cursor'>;

export function parseRunsSearch(raw: RawSearch): RunsSearch {
  return {
    label: text(raw['label']),
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    agent_id: text(raw['agent_id']),
    state: oneOf(runStates, raw['state']),
  };
}

/** What the gateway is asked for. */
export function filterOf({ org_id, team_id, label, agent_id, state }: RunsSearch): RunsFilter {
  return {
    ...(org_id === undefined ? {} : { org_id: idOfPart(org_id) }),
    ...(team_id === undefined ? {} : { team_id: idOfPart(team_id) }),
    ...(agent_id === undefined ? {} : { agent_id }),
    ...(label === undefined ? {} : { label }),
    ...(state === undefined ? {} : { state }),
  };
}
