import type { RawSearch } from '../../shell/search.ts';
import { text } from '../../shell/search.ts';
import type { RunPlace } from './run.ts';

/** The page state in the URL. Without the id of a run, it is the agent's own. */
export interface RunSearch {
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly agent_id?: string | undefined;
  /** The number of the step that is shown, from 1. */
  readonly step?: string | undefined;
}

export function parseRunSearch(raw: RawSearch): RunSearch {
  const step = text(raw['step']);
  return {
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    run_id: text(raw['run_id']),
    agent_id: text(raw['agent_id']),
    step: step !== undefined && /^[1-9]\d{0,8}$/.test(step) ? step : undefined,
  };
}

/** The run that the address names. Undefined if it names none. */
export function placeIn({ org_id = '', team_id = '', run_id = '', agent_id }: RunSearch): RunPlace | undefined {
  if (run_id === '' && agent_id === undefined) return undefined;
  return { org_id, team_id, run_id, agent_id: run_id === '' ? (agent_id ?? null) : null };
}

/** The address of a run. */
export function searchOf({ org_id, team_id, run_id, agent_id }: RunPlace): RunSearch {
  const named = run_id === '' ? { agent_id: agent_id ?? undefined } : { run_id };
  return { org_id: org_id === '' ? undefined : org_id, team_id: team_id === '' ? undefined : team_id, ...named };
}
