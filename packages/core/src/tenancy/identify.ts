import type { Principal } from '../access/index.ts';
import { mayReach } from '../access/index.ts';
import type { AgentId, Sha256 } from '../kernel/index.ts';
import { agentKey, parseAgentId, announce, ReeveError, equalInConstantTime } from '../kernel/index.ts';
import type { Warrant } from '../journal/index.ts';
import type { Agent } from './agent.ts';
import { isRegistered } from './agent.ts';
import type { KnownAgents } from './directory.ts';
import { outOfService } from './out-of-service.ts';
import type { Agents, Tenancy } from './tenancy.ts';

export type IdentityRefusal =
  | 'missing credential token'
  | 'credential token mismatch'
  | 'credential token registered to a different agent'
  | 'agent is not registered'
  | 'agent is out of service'
  | 'agent is suspended'
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

/** The agent whose token is right, even if it may not act at present. */
export function provenAgent(identity: Identity): Agent | undefined {
  if (identity.known) return identity.agent;
  const held = identity.reason === 'agent is suspended' || identity.reason === 'agent has not confirmed a stop';
  return held ? identity.claimed : undefined;
}

/**
 * Whether the presented token belongs to the claimed agent (spec, "Cross-org check"). It looks at the claimed triple
 * first. If that fails, the token's reverse index finds the real owner of a borrowed token.
 */
export function identify(directory: KnownAgents, sha256: Sha256, claim: AgentId, token: string): Identity {
  const found = directory.find(claim);
  const claimed = found !== undefined && isRegistered(found) ? found : undefined;
  if (token === '') return { known: false, reason: 'missing credential token', claimed, owner: undefined };

  if (directory.outOfService.has(claim)) return { known: false, reason: outOfService, claimed, owner: undefined };

  const presented = sha256(token);
  const expected = claimed?.record.tokenHash;
  if (claimed !== undefined && expected != null && equalInConstantTime(presented, expected)) {
    if (claimed.record.suspension !== null) {
      return { known: false, reason: 'agent is suspended', claimed, owner: undefined };
    }
    if (claimed.blocked) {
      return { known: false, reason: 'agent has not confirmed a stop', claimed, owner: undefined };
    }
    return { known: true, agent: claimed };
  }

  const owner = directory.ownerOf(presented);
  if (owner !== undefined) {
    return { known: false, reason: 'credential token registered to a different agent', claimed, owner };
  }
  const reason = claimed === undefined ? 'agent is not registered' : 'credential token mismatch';
  return { known: false, reason, claimed, owner: undefined };
}

/** An agent that the caller may see. For a tenant, another tenant's agent does not exist. */
export function findAgent(gov: Agents, by: Principal, id: AgentId): Agent {
  const agent = mayReach(by, id) ? gov.directory.find(id) : undefined;
  if (agent !== undefined && isRegistered(agent)) return agent;
  throw new ReeveError('agent_not_found', `there is no agent "${agentKey(id)}"`);
}

/** The registered agent behind a call other than a check. A suspended or blocked agent may still report and listen. */
export function authenticateAgent(gov: Tenancy, claim: AgentId | undefined, token: string): Agent {
  const agent = agentOf(gov.directory, gov.sha256, parseAgentId(claim), token);
  touchAgent(gov, agent);
  return agent;
}

/** What a turn for an agent takes: its token is the one that the agent has at every run. */
export function agentWarrant({ directory, sha256 }: Tenancy, claim: AgentId | undefined, token: string): Warrant {
  const id = parseAgentId(claim);
  const hash = sha256(token);
  return { require: () => void agentOf(directory, () => hash, id, token) };
}

function agentOf(directory: KnownAgents, sha256: Sha256, id: AgentId, token: string): Agent {
  directory.outOfService.refuse(id);
  const identity = identify(directory, sha256, id, token);
  const agent = provenAgent(identity);
  if (agent === undefined) throw new ReeveError('unauthenticated', identity.known ? '' : identity.reason);
  return agent;
}

export interface IdentifiedAgent {
  readonly agentId: AgentId;
  readonly suspended: boolean;
}

/**
 * Says whose token this is, to a caller that knows nothing else. The directory finds the hash, so the work is the same
 * whoever owns it. It records nothing, not even that the agent is alive: the caller has not acted as the agent yet.
 */
export function identifyByToken(
  { directory, sha256 }: Pick<Tenancy, 'directory' | 'sha256'>,
  token: string,
): IdentifiedAgent {
  const owner = token === '' ? undefined : directory.ownerOf(sha256(token));
  if (owner === undefined) throw new ReeveError('unauthenticated', 'the credential token belongs to no agent');
  const { id } = owner.record;
  directory.outOfService.refuse(id);
  return { agentId: id, suspended: isSuspended({ directory }, owner) };
}

/** Whether checks of an agent are denied because it, its team, its org or everything is suspended. */
export function isSuspended({ directory }: Agents, { record }: Agent): boolean {
  return record.suspension !== null || directory.suspensions.over(record.id) !== undefined;
}

/** Why a stream ends when its credential is no longer valid. */
export function credentialEnded(): ReeveError {
  return new ReeveError('unauthenticated', 'the credential token has been replaced, or the agent has left');
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
  return { suspended: isSuspended(gov, agent), policyVersion: gov.policies.version };
}
