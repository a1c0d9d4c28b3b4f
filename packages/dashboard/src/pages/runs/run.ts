import type { Answer, RequestOf } from '../../api/send.ts';

/** A run in the gateway's form. */
export type Run = Answer<'listRuns'>['items'][number];
export type RunDetails = Omit<Answer<'getRun'>, 'operations'>;
/** An operation of a run, as the log has it. */
export type Step = Answer<'getRun'>['operations']['items'][number];
export type RunLabel = Run['labels'][number];

/** What names a run: its id within an org and team, or the agent that sends no ids. */
export interface RunPlace {
  readonly org_id: string;
  readonly team_id: string;
  readonly run_id: string;
  readonly agent_id: string | null;
}

/** Of an operation that came without the id of a run, the run is its agent's own. */
export function placeOfOp(
  agent: { readonly org_id: string; readonly team_id: string; readonly agent_id: string },
  runId: string,
): RunPlace {
  const { org_id, team_id, agent_id } = agent;
  return { org_id, team_id, run_id: runId, agent_id: runId === '' ? agent_id : null };
}

export function keyOfRun({ org_id, team_id, run_id, agent_id }: RunPlace): string {
  return JSON.stringify([org_id, team_id, run_id, agent_id]);
}

/** A run by its id, or by the agent whose own it is. */
export function nameOfRun({ run_id, agent_id }: Pick<RunPlace, 'run_id' | 'agent_id'>): string {
  return run_id === '' ? `${agent_id ?? ''}, without a run id` : run_id;
}

/** How the gateway is asked for it. */
export function requestOfRun({ org_id, team_id, run_id, agent_id }: RunPlace) {
  return run_id === ''
    ? { params: { run_id: '-' }, query: { org_id, team_id, agent_id: agent_id ?? '' } }
    : { params: { run_id }, query: { org_id, team_id } };
}

/** The labels that a step gave to the run, or to its agent in all its runs. */
export function labelsOfStep(
  { labels, agent_labels: ofAgents }: RunDetails,
  { op_id, agent }: Step,
): readonly RunLabel[] {
  const own = ofAgents.filter((label) => label.agent_id === agent.agent_id);
  return [...labels, ...own].filter((label) => label.op_id === op_id);
}

export type ClearRequest = NonNullable<RequestOf<'clearRunLabels'>['body']>;
