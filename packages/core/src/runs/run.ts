import type { Part, Slot } from '../kernel/index.ts';
import type { AgentId, EpochMs, Micros, Total } from '../kernel/index.ts';

/** Where a run is. `runId` is empty for the one run of an agent that sends no ids. `agentId` is empty for all others. */
export interface RunPlace {
  readonly orgId: string;
  readonly teamId: string;
  readonly runId: string;
  readonly agentId: string;
}

/** What says in which run an operation is. */
export interface InRun {
  readonly agent: AgentId;
  readonly runId: string;
  /** The nearest first. */
  readonly delegators: readonly string[];
}

/** A delegate without a run of its own is in that of whoever stands above all. */
function ownerOf({ agent, delegators }: InRun): string {
  return delegators.at(-1) ?? agent.agentId;
}

export function placeOfRun(op: InRun): RunPlace {
  const { orgId, teamId } = op.agent;
  return { orgId, teamId, runId: op.runId, agentId: op.runId === '' ? ownerOf(op) : '' };
}

export function runName(op: InRun): string {
  return nameOfPlace(placeOfRun(op));
}

/** Runs are known by this. No org and no team has a slash in its name. */
export function nameOfPlace({ orgId, teamId, runId, agentId }: RunPlace): string {
  return runId === '' ? `${orgId}/${teamId}/@${agentId}` : `${orgId}/${teamId}/#${runId}`;
}

/** The same where anything may be in a run id: JSON has a text for all of it. The org stands second, as in other places. */
export function keyOfPlace({ orgId, teamId, runId, agentId }: RunPlace): string {
  return JSON.stringify([runId, orgId, teamId, agentId]);
}

/** What conditions see of a run. */
export interface RunCount {
  readonly checks: number;
  /** What its checks were to cost, without those that were denied. */
  readonly spentMicros: Total;
}

/** How an operation changes its run. */
export interface RunChange {
  readonly agentId: string;
  readonly at: EpochMs;
  readonly checks: 0 | 1;
  readonly denied: 0 | 1;
  readonly spentMicros: Micros;
  readonly costMicros: Micros;
}

/** An agent of a run, and how many of the checks are its own. */
export interface RunAgent {
  readonly agentId: string;
  readonly checks: number;
}

/** For the registry alone. */
export type MutableRunAgent = { -readonly [Member in keyof RunAgent]: RunAgent[Member] };

/** A run names at most so many agents: those that came first, in the order of their ids. */
export const mostAgents = 16;

export interface Run extends RunCount {
  readonly name: string;
  readonly place: RunPlace;
  readonly startedAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly denied: number;
  /** What its operations did cost. */
  readonly costMicros: Total;
  readonly agents: readonly RunAgent[];
  /** How many of its operations are not over. It follows from the operations, and no row has it. */
  readonly underWay: number;
}

/** When the first and the last happened. */
export interface RunTimes {
  readonly startedAt: EpochMs;
  readonly lastAt: EpochMs;
}

/** For the registry alone. */
export interface MutableRun extends Run {
  startedAt: EpochMs;
  lastAt: EpochMs;
  checks: number;
  denied: number;
  spentMicros: Total;
  costMicros: Total;
  agents: MutableRunAgent[];
  underWay: number;
  /** A restored one has all up to this entry. */
  asOf: number;
  /** What happened here and is not durable yet. */
  readonly unsettled: RunChange[];
  /** The times of all else that happened, if anything did: what is taken back leaves these. */
  settled: RunTimes | undefined;
  /** It bears labels. Such a run makes no room for others: whoever begins many must not wash labels off. */
  isLabelled: boolean;
  /** Where it is among those that have nothing under way: of its team, or among the labelled ones of its org. */
  idlePart: Part<MutableRun> | undefined;
}

export const idleSlot: Slot<MutableRun> = {
  read: (run) => run.idlePart,
  write: (run, part) => {
    run.idlePart = part;
  },
};

export function newRun(name: string, place: RunPlace, at: EpochMs): MutableRun {
  return {
    name,
    place,
    startedAt: at,
    lastAt: at,
    checks: 0,
    denied: 0,
    spentMicros: 0,
    costMicros: 0,
    agents: [],
    underWay: 0,
    asOf: 0,
    unsettled: [],
    settled: undefined,
    isLabelled: false,
    idlePart: undefined,
  };
}

/** One of the agents of a run has made so many checks more or less. */
export function addChecks(agents: MutableRunAgent[], agentId: string, checks: number): void {
  let at = 0;
  while (at < agents.length && (agents[at]?.agentId ?? '') < agentId) at++;
  const known = agents[at];
  if (known?.agentId !== agentId) {
    if (checks > 0 && agents.length < mostAgents) agents.splice(at, 0, { agentId, checks });
    return;
  }
  known.checks += checks;
  if (known.checks <= 0) agents.splice(at, 1);
}

/** Every decision looks for its run several times, and mostly for the last one. */
export function isAt({ orgId, teamId, runId, agentId }: RunPlace, op: InRun): boolean {
  const { agent } = op;
  if (runId !== op.runId || teamId !== agent.teamId || orgId !== agent.orgId) return false;
  return runId !== '' || agentId === ownerOf(op);
}
