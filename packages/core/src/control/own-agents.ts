import type { Principal } from '../access/index.ts';
import { isOfLineageOfAny, refusalOf, standingOf } from '../access/index.ts';
import { ownWork } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { registeredBy, visibleAgents } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';
import type { Departure, Holding } from './departures.ts';
import { anybody, leftDuring } from './departures.ts';
import { reaches } from './run-controls.ts';

/** How often agents and departures are held against what holds them, per turn. */
const looksPerTurn = 5000;
/** How many departures an org may have. Beyond that, anybody counts as having registered what left. */
export const mostDepartures = 10_000;
/** How many of one credential are told apart. Beyond that, it has left from everywhere in the org. */
export const mostDeparturesOfOne = 500;
/** How many departures are forgotten per turn. */
const forgottenPerTurn = 100;

/**
 * Whether the caller's credential, or one that it comes from, registered an agent that is held by one of these, or was
 * until it left. Whom nothing of this kind refuses is not looked at.
 */
export async function hasOwnAgent(gov: Controls, by: Principal, holding: readonly Holding[]): Promise<boolean> {
  const own = { ...standingOf(gov.keys, by), isOwn: true };
  if (holding.length === 0 || refusalOf('pause', own, 'team') === null) return false;
  for (const held of holding) gov.directory.outOfService.refuseWithin(held);
  const known = new Map<string, boolean>();
  const isOwn = (registrars: readonly string[]) => {
    const name = registrars.join(' ');
    const answer = known.get(name) ?? (name === anybody || isOfLineageOfAny(gov.keys, by.credentialId, registrars));
    known.set(name, answer);
    return answer;
  };
  let looked = 0;
  const look = async (isHeld: (held: Holding) => boolean, registrars: readonly string[]) => {
    looked += holding.length;
    if (looked >= looksPerTurn) {
      await gov.journal.nextTurn();
      looked = 0;
    }
    return isOwn(registrars) && holding.some(isHeld);
  };
  // Copies of both, made together: whoever leaves in between is in the first.
  const agents = [...visibleAgents(gov, by, {})];
  const departures = [...gov.control.departures.of(by.orgId)];
  for (const agent of agents) {
    const { registrars } = registeredBy(gov.directory, agent);
    if (await look((held) => reaches(held, agent.record.id), registrars)) return true;
  }
  for (const departure of departures) {
    if (await look((held) => leftDuring(held, departure), [departure.credentialId])) return true;
  }
  return false;
}

/** Whether the caller's credential, or one that it comes from, registered this agent, if it is there. */
export function isOwnAgent(gov: Controls, by: Principal, id: AgentId): boolean {
  const agent = gov.directory.find(id);
  if (agent === undefined) return false;
  return isOfLineageOfAny(gov.keys, by.credentialId, registeredBy(gov.directory, agent).registrars);
}

/** An agent leaves. The credentials that registered it are remembered, for each level on which something holds it. */
export function noteDeparture(gov: Controls, agent: Agent): void {
  const { id } = agent.record;
  const { registrars } = registeredBy(gov.directory, agent);
  const { runs, departures } = gov.control;
  const newest = Math.max(runs.newestAt, gov.directory.suspensions.newestAt, gov.runs.labels.newestAt);
  const at = Math.max(gov.clock.now(), newest);
  for (const agentId of [id.agentId, null]) {
    if (!isHeld(gov, id, agentId)) continue;
    for (const credentialId of registrars) {
      const { orgId, teamId } = id;
      const exact: Departure = { orgId, teamId, agentId, credentialId, at };
      const anywhere: Departure = { ...exact, teamId: null, agentId: null };
      const isOneOfMany = departures.find(exact) === undefined && departures.countOfOne(exact) >= mostDeparturesOfOne;
      const own = isOneOfMany ? anywhere : exact;
      const isFull = departures.find(own) === undefined && departures.countOf(orgId) >= mostDepartures;
      const departure = isFull ? { ...anywhere, credentialId: anybody } : own;
      // It counts for all that holds, and need not be written again.
      if ((departures.find(departure)?.at ?? -1) >= newest) continue;
      gov.journal.apply({ kind: 'departure_saved', departure });
    }
  }
}

/** Forgets the departures from where nothing holds any more, in steps. One of several gateways does this. */
export async function forgetDepartures(gov: Controls): Promise<void> {
  const isOver = (departure: Departure) => !mayCount(gov, departure);
  const over = [...gov.control.departures.of(null)].filter(isOver);
  while (over.length > 0) {
    const some = over.splice(0, forgottenPerTurn);
    await gov.journal.turn(ownWork, () => {
      for (const departure of some.filter(isOver)) {
        gov.journal.apply({ kind: 'departure_removed', departure });
      }
    });
  }
}

/** Whether something holds where an agent has left. */
function mayCount(gov: Controls, { orgId, teamId, agentId }: Departure): boolean {
  if (teamId === null) return gov.control.runs.count + gov.directory.suspensions.count > 0 || !gov.runs.labels.isEmpty;
  return isHeld(gov, { orgId, teamId, agentId: agentId ?? '' }, agentId);
}

/** Whether something holds an agent on this level: by its name, or, for null, because it holds whoever is there. */
function isHeld({ control, directory, runs }: Controls, id: AgentId, agentId: string | null): boolean {
  // Labels of the agent, or of a run that it may have been in.
  if (runs.labels.hasTeam(id)) return true;
  if (agentId === null && directory.suspensions.over(id) !== undefined) return true;
  return control.runs.isHeld(id, agentId);
}
