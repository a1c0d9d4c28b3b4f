import type { Principal } from '../access/index.ts';
import { mayReach, requireScope } from '../access/index.ts';
import { redactText } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Label, Run, RunPlace } from '../runs/index.ts';
import { agentBearer } from '../runs/index.ts';
import { linksOf } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';
import type { ShownRun } from './list-runs.ts';
import { showRun } from './list-runs.ts';

/** Which run somebody means. Org and team default to those of the credential, or to none. */
export interface RunAsked {
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
  /** Undefined for the run of an agent that sends no ids. */
  readonly runId?: string | undefined;
  readonly agentId?: string | undefined;
}

/** A run with what its agents bear in all their runs. */
export interface RunDetails extends ShownRun {
  readonly agentLabels: readonly (Label & { readonly agentId: string })[];
}

export async function readRun(gov: Controls, by: Principal, asked: RunAsked): Promise<RunDetails> {
  requireScope(by, 'read');
  return await gov.journal.durable(() => {
    const shown = showRun(gov, findRun(gov, by, asked));
    const { place } = shown.run;
    const agentLabels = agentsIn(shown.run).flatMap((agentId) => {
      const bearer = agentBearer({ agent: { ...place, agentId }, runId: '', delegators: [] }, agentId);
      return gov.runs.labels.of(bearer).map((label) => ({ ...label, agentId }));
    });
    return { ...shown, agentLabels };
  });
}

/** For a tenant, a run of another one does not exist. */
export function findRun(gov: Controls, by: Principal, asked: RunAsked): Run {
  const place = placeAsked(gov, by, asked);
  const run = mayReach(by, place) ? gov.runs.find(place) : undefined;
  const isOfAgent = ({ agentId }: RunAsked) =>
    agentId === undefined || asked.runId === undefined || (run !== undefined && agentsIn(run).includes(agentId));
  if (run !== undefined && isOfAgent(asked)) return run;
  throw new ReeveError('run_not_found', 'no such run is remembered in this org and team');
}

/** Where a run that somebody means would be. */
export function placeAsked({ directory }: Controls, by: Principal, asked: RunAsked): RunPlace {
  const { orgId = by.orgId ?? '', teamId = by.teamId ?? '', runId, agentId = '' } = asked;
  // Operations show their run like this, and are found by it.
  if (runId !== undefined) return { orgId, teamId, runId: redactText(runId), agentId: '' };
  const agent = directory.find({ orgId, teamId, agentId });
  // A delegate without a run of its own is in that of whoever stands above all.
  const above = agent === undefined ? undefined : linksOf(directory, agent).at(-1)?.delegation.by;
  return { orgId, teamId, runId: '', agentId: above ?? agentId };
}

/** The agents of a run, as far as they are named. */
export function agentsIn({ agents, place }: Run): readonly string[] {
  const named = agents.map(({ agentId }) => agentId);
  return place.agentId === '' || named.includes(place.agentId) ? named : [place.agentId, ...named];
}
