import type { Principal } from '../access/index.ts';
import { mayReach, requireAuthority, standingOf } from '../access/index.ts';
import { canonicalJson, draftOf, lineageOfBinding, redactText } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { LabelBearer, RunPlace } from '../runs/index.ts';
import { mostAgents } from '../runs/index.ts';
import type { Controls } from './controls.ts';
import type { Holding } from './departures.ts';
import type { RunAsked } from './find-run.ts';
import { agentsIn, findRun, placeAsked } from './find-run.ts';
import { hasOwnAgent, isOwnAgent } from './own-agents.ts';

export interface ClearLabels extends RunAsked {
  readonly by: Principal;
  /** All of them if absent. */
  readonly labels?: readonly string[] | undefined;
  readonly reason: string;
}

export interface ClearedLabels {
  readonly cleared: readonly string[];
  readonly left: readonly string[];
}

/** Whose labels are meant, and which agents are concerned: null stands for whoever is in the team. */
interface Concerned {
  readonly bearers: readonly LabelBearer[];
  readonly agents: readonly (string | null)[];
  readonly place: RunPlace;
}

/** Whether the caller had registered an agent that bears the labels, or did until it left. It looks at all agents, in steps. */
export async function readOwnership(gov: Controls, request: ClearLabels): Promise<boolean> {
  const { by } = request;
  const { place, bearers, agents } = concernedBy(gov, request);
  const since = bearers.flatMap((bearer) => gov.runs.labels.of(bearer).map((label) => label.since));
  const at = Math.min(...since, Number.MAX_SAFE_INTEGER);
  const { orgId, teamId } = place;
  return await hasOwnAgent(
    gov,
    by,
    agents.map((agentId): Holding => ({ orgId, teamId, agentId, at })),
  );
}

/** Clears labels. Nobody clears those of an agent that its own credential, or one that it comes from, has registered. */
export function clearLabels(gov: Controls, request: ClearLabels, isOwn: boolean): ClearedLabels {
  const { by, labels, reason } = request;
  const { place, bearers, agents } = concernedBy(gov, request);
  // The labels may be others than this gateway knows.
  gov.directory.outOfService.refuseWithin(place);
  // Whoever came since the look is looked at now.
  const ids = agents.flatMap((agentId) => (agentId === null ? [] : [{ ...place, agentId }]));
  const standing = { ...standingOf(gov.keys, by), isOwn: isOwn || ids.some((id) => isOwnAgent(gov, by, id)) };
  requireAuthority(standing, 'labels');
  const cleared = new Set<string>();
  for (const bearer of bearers) {
    const borne = gov.runs.labels.of(bearer).map(({ name }) => name);
    const names = labels === undefined ? borne : borne.filter((name) => labels.includes(name));
    if (names.length === 0) continue;
    gov.journal.apply({ kind: 'labels_cleared', ...bearer, names });
    for (const name of names) cleared.add(name);
  }
  const left = new Set(bearers.flatMap((bearer) => gov.runs.labels.of(bearer).map(({ name }) => name)));
  if (cleared.size > 0) note(gov, request, place, [...cleared], redactText(reason));
  return { cleared: [...cleared], left: [...left] };
}

function concernedBy(gov: Controls, request: ClearLabels): Concerned {
  const { by, runId, agentId } = request;
  if (runId !== undefined || agentId === undefined) {
    const run = findRun(gov, by, request);
    // A run names no more than some of its agents. The others are in its team.
    const agents = run.agents.length < mostAgents ? agentsIn(run) : [null];
    return { place: run.place, bearers: [{ of: 'run', place: run.place }], agents };
  }
  const place = placeAsked(gov, by, request);
  const itself = { ...place, agentId };
  const bearers: LabelBearer[] = [
    { of: 'agent', place: itself },
    { of: 'run', place: itself },
  ];
  const isKnown =
    gov.directory.find(itself) !== undefined || bearers.some((each) => gov.runs.labels.of(each).length > 0);
  if (!mayReach(by, place) || !isKnown) throw new ReeveError('agent_not_found', 'there is no such agent');
  const own = gov.runs.find(itself);
  return { place: itself, bearers, agents: [...new Set([agentId, ...(own === undefined ? [] : agentsIn(own))])] };
}

function note(
  gov: Controls,
  { by, runId }: ClearLabels,
  place: RunPlace,
  labels: readonly string[],
  reason: string,
): void {
  const { orgId, teamId, agentId } = place;
  const { requestId } = by;
  gov.journal.record(
    draftOf({
      at: gov.clock.now(),
      eventType: 'RunLabelsCleared',
      lineage: lineageOfBinding({ orgId: orgId === '' ? null : orgId, teamId }),
      actor: by.actor,
      reason: reason === '' ? null : reason,
      payload: canonicalJson({
        ...(runId === undefined ? { agent_id: agentId } : { run_id: place.runId }),
        labels: [...labels],
        org_id: orgId,
        ...(requestId === undefined ? {} : { request_id: requestId }),
        team_id: teamId,
      }),
    }),
  );
}
