import type { Principal } from '../access/index.ts';
import { mayReach } from '../access/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { agentKey, parseAgentId, announce, ReeveError } from '../kernel/index.ts';
import type { Warrant } from '../journal/index.ts';
import type { Agent } from './agent.ts';
import { findRegistered, isRegistered, tokenEnd } from './agent.ts';
import { delegationEnd, hasLapsed, isHeldAbove } from './delegation-links.ts';
import { outOfService } from './out-of-service.ts';
import type { Agents, Tenancy } from './tenancy.ts';

export type IdentityRefusal =
  | 'missing credential token'
  | 'credential token mismatch'
  | `token ${string}`
  | 'credential token registered to a different agent'
  | 'agent is not registered'
  | 'agent is out of service'
  | 'agent is suspended'
  | 'delegator is suspended'
  | 'agent has not confirmed a stop';

export type Identity =
  | { readonly known: true; readonly agent: Agent }
  | {
      readonly known: false;
      readonly reason: IdentityRefusal;
      /** The registered agent that was claimed, if any. */
      readonly claimed: Agent | undefined;
      /** The agent that the token really belongs to, if it is another one. */
      readonly owner: Agent | undefined;
    };

/** What it takes to know whose token it is. */
export type Identifying = Pick<Tenancy, 'clock' | 'directory' | 'sha256' | 'workloads'>;

/** For these an agent is denied although its token is right. */
const heldReasons: ReadonlySet<IdentityRefusal> = new Set([
  'agent is suspended',
  'agent has not confirmed a stop',
  'delegator is suspended',
]);

/** The agent whose token is right, even if it may not act at present. */
export function provenAgent(identity: Identity): Agent | undefined {
  if (identity.known) return identity.agent;
  return heldReasons.has(identity.reason) ? identity.claimed : undefined;
}

/**
 * Whether the presented token belongs to the claimed agent (spec, "Cross-org check"). It looks at the claimed triple
 * first. If that fails, the token's reverse index finds the real owner of a borrowed token.
 */
export function identify(gov: Identifying, claim: AgentId, token: string): Identity {
  const { clock, directory, sha256 } = gov;
  const claimed = findRegistered(directory, claim);
  if (token === '') return { known: false, reason: 'missing credential token', claimed, owner: undefined };

  if (directory.outOfService.has(claim)) return { known: false, reason: outOfService, claimed, owner: undefined };

  const presented = sha256(token);
  const end = claimed === undefined ? undefined : tokenEnd(claimed.record, presented);
  if (claimed !== undefined && end !== undefined) {
    if (end !== null && clock.now() >= end) {
      return { known: false, reason: 'token has expired', claimed, owner: undefined };
    }
    return unlessHeld(gov, claimed);
  }

  const owner = directory.ownerOf(presented);
  if (owner !== undefined) {
    return { known: false, reason: 'credential token registered to a different agent', claimed, owner };
  }
  return identifyWorkload(gov, claim, claimed, presented);
}

/** An agent that has proven who it is may still be held. */
function unlessHeld(gov: Identifying, claimed: Agent): Identity {
  const reason = whyHeld(gov, claimed);
  return reason === undefined ? { known: true, agent: claimed } : { known: false, reason, claimed, owner: undefined };
}

function whyHeld({ clock, directory }: Identifying, agent: Agent): IdentityRefusal | undefined {
  // Nobody may have noticed yet that a delegation is over.
  if (hasLapsed(directory, agent, clock.now())) return 'token has expired';
  if (agent.record.suspension !== null) return 'agent is suspended';
  if (agent.blocked) return 'agent has not confirmed a stop';
  return isHeldAbove(directory, agent) ? 'delegator is suspended' : undefined;
}

/** For a token that no agent has: a JWT may count as one. */
function identifyWorkload(gov: Identifying, claim: AgentId, claimed: Agent | undefined, presented: string): Identity {
  const { clock, directory, workloads } = gov;
  const refused = (reason: IdentityRefusal, owner?: Agent): Identity => ({ known: false, reason, claimed, owner });
  const unknown = claimed === undefined ? 'agent is not registered' : 'credential token mismatch';
  const shown = workloads.find(presented);
  if (shown === undefined) return refused(unknown);
  if ('why' in shown) return refused(`token ${shown.why}`);
  if (clock.now() >= shown.expiresAt) return refused('token has expired');
  if (agentKey(shown.agentId) !== agentKey(claim)) {
    const owner = directory.find(shown.agentId);
    const isOthers = owner !== undefined && isRegistered(owner);
    return isOthers ? refused('credential token registered to a different agent', owner) : refused(unknown);
  }
  if (claimed === undefined) return refused(unknown);
  return directory.delegations.of(claimed) === undefined ? unlessHeld(gov, claimed) : refused(idOfDelegate);
}

/** An agent of the team has chosen this name for a delegate. Who has the JWT is somebody else. */
const idOfDelegate = 'token is of a workload, and a delegate has its id';

/** An agent that the caller may see. For a tenant, another tenant's agent does not exist. */
export function findAgent(gov: Agents, by: Principal, id: AgentId): Agent {
  if (mayReach(by, id)) return registeredAgent(gov, id);
  throw noAgent(id);
}

export function registeredAgent({ directory }: Agents, id: AgentId): Agent {
  const agent = findRegistered(directory, id);
  if (agent !== undefined) return agent;
  throw noAgent(id);
}

function noAgent(id: AgentId): ReeveError {
  return new ReeveError('agent_not_found', `there is no agent "${agentKey(id)}"`);
}

/** The registered agent behind a call other than a check. A suspended or blocked agent may still report and listen. */
export function authenticateAgent(gov: Tenancy, claim: AgentId | undefined, token: string): Agent {
  const agent = agentOf(gov, parseAgentId(claim), token);
  touchAgent(gov, agent);
  return agent;
}

/** What a turn for an agent takes: its token is the one that the agent has at every run. */
export function agentWarrant(gov: Identifying, claim: AgentId | undefined, token: string): Warrant {
  const id = parseAgentId(claim);
  const hash = gov.sha256(token);
  const { clock, directory, workloads } = gov;
  const hashed: Identifying = { clock, directory, workloads, sha256: () => hash };
  return { require: () => void agentOf(hashed, id, token) };
}

function agentOf(gov: Identifying, id: AgentId, token: string): Agent {
  gov.directory.outOfService.refuse(id);
  const identity = identify(gov, id, token);
  const agent = provenAgent(identity);
  if (agent === undefined) throw new ReeveError('unauthenticated', identity.known ? '' : identity.reason);
  return agent;
}

export interface IdentifiedAgent {
  readonly agentId: AgentId;
  readonly suspended: boolean;
  /** When this token ends; null: never. */
  readonly expiresAt: EpochMs | null;
  /** How long the tokens of the agent work; null: always. */
  readonly ttlSecs: number | null;
}

/**
 * Says whose token this is, to a caller that knows nothing else. The directory finds the hash, so the work is the same
 * whoever owns it. It records nothing, not even that the agent is alive: the caller has not acted as the agent yet.
 */
export function identifyByToken(gov: Identifying, token: string): IdentifiedAgent {
  const { clock, directory, sha256, workloads } = gov;
  const hash = sha256(token);
  const found = token === '' ? undefined : directory.ownerOf(hash);
  const shown = found === undefined ? workloads.find(hash) : undefined;
  if (shown !== undefined && 'why' in shown) throw new ReeveError('unauthenticated', `token ${shown.why}`);
  const owner = shown === undefined ? found : directory.find(shown.agentId);
  if (owner === undefined || !isRegistered(owner)) {
    const why = shown === undefined ? 'the credential token belongs to no agent' : 'agent is not registered';
    throw new ReeveError('unauthenticated', why);
  }
  if (shown !== undefined && directory.delegations.of(owner) !== undefined) {
    throw new ReeveError('unauthenticated', idOfDelegate);
  }
  const { id, tokenLife } = owner.record;
  directory.outOfService.refuse(id);
  const ownEnd = shown?.expiresAt ?? tokenEnd(owner.record, hash) ?? null;
  const isOver = (ownEnd !== null && clock.now() >= ownEnd) || hasLapsed(directory, owner, clock.now());
  if (isOver) throw new ReeveError('unauthenticated', 'token has expired');
  const ends = [ownEnd, delegationEnd(directory, owner)].filter((end) => end !== null);
  const ttlSecs = shown === undefined ? (tokenLife?.ttlSecs ?? null) : null;
  const expiresAt = ends.length === 0 ? null : Math.min(...ends);
  return { agentId: id, suspended: isHeld({ directory }, owner), expiresAt, ttlSecs };
}

/** Whether checks of an agent are denied because it, its team, its org or everything is suspended. */
export function isSuspended({ directory }: Agents, { record }: Agent): boolean {
  return record.suspension !== null || directory.suspensions.over(record.id) !== undefined;
}

/** Whether its checks are denied by a suspension, its own or that of somebody on whose behalf it acts. */
export function isHeld(gov: Agents, agent: Agent): boolean {
  return isSuspended(gov, agent) || isHeldAbove(gov.directory, agent);
}

/** How long a stream waits for the fact that ends its delegation. */
const lapsedForMs = 10_000;

/** Tells from now on whether what an agent has shown still proves that it is this agent, however it is held. */
export function lastingProof(gov: Identifying, agent: Agent, token: string): () => boolean {
  const { clock, directory, sha256, workloads } = gov;
  const hash = sha256(token);
  const shown = tokenEnd(agent.record, hash) === undefined ? workloads.find(hash) : undefined;
  return () => {
    // What ends the delegation ends the stream, once it has told the agent to stop.
    if (hasLapsed(directory, agent, clock.now() - lapsedForMs)) return false;
    const isOfWorkload = shown !== undefined && 'expiresAt' in shown;
    const isItself = isRegistered(agent) && directory.delegations.of(agent) === undefined;
    const end = isOfWorkload && isItself ? shown.expiresAt : tokenEnd(agent.record, hash);
    return end === null || (end !== undefined && clock.now() < end);
  };
}

/** Why a stream ends when its credential is no longer valid. */
export function credentialEnded(): ReeveError {
  return new ReeveError(
    'unauthenticated',
    'the credential token has been replaced or has expired, or the agent has left',
  );
}

/** Records that an agent is alive: by a check, a call or its stream. Every decision calls it, so it does next to nothing. */
export function touchAgent(
  { clock, reactions }: Pick<Tenancy, 'clock' | 'reactions'>,
  agent: Agent,
  at: number = clock.elapsed(),
): void {
  agent.aliveAt = at;
  agent.lastSeenAt = clock.now();
  agent.isHere = true;
  if (agent.silent) announce(reactions.agentBack, agent);
}

export interface HeartbeatAnswer {
  readonly suspended: boolean;
  readonly policyVersion: string;
}

/** The agent reports that it is alive, and learns whether it is suspended and which policies are in force. */
export function heartbeat(gov: Tenancy, claim: AgentId | undefined, token: string): HeartbeatAnswer {
  const agent = authenticateAgent(gov, claim, token);
  return { suspended: isHeld(gov, agent), policyVersion: gov.policies.version };
}
