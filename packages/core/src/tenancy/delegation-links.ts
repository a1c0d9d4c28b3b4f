import type { Registered } from '../access/index.ts';
import type { AgentId, AgentKey, EpochMs } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import { findRegistered } from './agent.ts';
import type { Delegation } from './delegation.ts';
import type { KnownAgents } from './directory.ts';

/** How many delegations may stand above an agent. */
export const deepestDelegation = 8;

/** One delegation above an agent: who acts by it, and who granted it. */
export interface Link {
  readonly delegate: Agent;
  readonly delegation: Delegation;
  /** Undefined if it has left, or cannot be read. */
  readonly delegator: Agent | undefined;
}

const alone: readonly Link[] = [];

/** The delegations by which an agent acts, its own first. Nearly all agents act for nobody. */
export function linksOf(directory: KnownAgents, agent: Agent): readonly Link[] {
  const { delegations } = directory;
  let delegation = delegations.of(agent);
  if (delegation === undefined) return alone;
  const links: Link[] = [];
  let delegate = agent;
  // No circle can be made, but nothing that is stored may keep a decision from ending.
  while (delegation !== undefined && links.length < deepestDelegation) {
    const delegator: Agent | undefined = findRegistered(directory, { ...delegation.id, agentId: delegation.by });
    links.push({ delegate, delegation, delegator });
    if (delegator === undefined) break;
    delegate = delegator;
    delegation = delegations.of(delegator);
  }
  return links;
}

/**
 * Who has registered an agent, and everybody on whose behalf it acts or did: all of them stand behind it, also those who
 * came later. The record of an agent tells only who did when it was delegated to.
 */
export function registeredBy(directory: KnownAgents, agent: Agent): Registered {
  const registrars = new Set(agent.record.registeredWith);
  let delegation = directory.delegations.find(agent.key);
  for (let depth = 0; delegation !== undefined && depth < deepestDelegation; depth++) {
    const delegator = directory.find({ ...delegation.id, agentId: delegation.by });
    for (const each of delegator?.record.registeredWith ?? []) registrars.add(each);
    delegation = delegator === undefined ? undefined : directory.delegations.find(delegator.key);
  }
  return { registrars: [...registrars] };
}

/** When the delegations end by which an agent acts; null if it acts for nobody. */
export function delegationEnd(directory: KnownAgents, agent: Agent): EpochMs | null {
  const links = linksOf(directory, agent);
  return links.length === 0 ? null : Math.min(...links.map(({ delegation }) => delegation.expiresAt));
}

/** Whether an agent acts by a delegation that is over, although nobody has ended it yet. */
export function hasLapsed(directory: KnownAgents, agent: Agent, now: EpochMs): boolean {
  for (const { delegation, delegator } of linksOf(directory, agent)) {
    if (delegation.expiresAt <= now || delegator === undefined) return true;
  }
  return false;
}

/** Why nothing more can be done by these delegations: one has no checks left. */
export function usedUp(links: readonly Link[]): string | undefined {
  for (const { delegation } of links) {
    const { id, by, checks, maxChecks } = delegation;
    if (maxChecks === null || checks < maxChecks) continue;
    return `the delegation of "${id.agentId}" by "${by}" allows ${maxChecks} checks, and they are used up`;
  }
  return undefined;
}

/** The keys of all that act for an agent, at all depths. */
export function agentsUnder(directory: KnownAgents, agent: Pick<Agent, 'key'>): AgentKey[] {
  const direct = [...directory.delegations.under(agent)];
  return direct.length === 0 ? direct : direct.flatMap((key) => [key, ...agentsUnder(directory, { key })]);
}

/** When the delegations were made that are remembered below an agent, at all depths. */
export function grantsUnder(directory: KnownAgents, agent: Pick<Agent, 'key'>, depth = deepestDelegation): EpochMs[] {
  if (depth === 0) return [];
  return [...directory.delegations.madeBy(agent)].flatMap(({ id, grantedAt }) => {
    return [grantedAt, ...grantsUnder(directory, { key: agentKey(id) }, depth - 1)];
  });
}

/** Whether an agent may not act at present, because somebody on whose behalf it acts may not. */
export function isHeldAbove(directory: KnownAgents, agent: Agent): boolean {
  for (const { delegator } of linksOf(directory, agent)) {
    if (delegator === undefined || delegator.record.suspension !== null || delegator.blocked) return true;
    if (directory.outOfService.has(delegator.record.id)) return true;
  }
  return false;
}

/** Of an agent and all on whose behalf it acts, the first whom this gateway could not read in full, if any. */
export function unreadBehind(directory: KnownAgents, agent: Agent): AgentId | undefined {
  const { outOfService } = directory;
  if (outOfService.isEmpty) return undefined;
  const above = linksOf(directory, agent).flatMap(({ delegator }) => delegator ?? []);
  return [agent, ...above].map(({ record }) => record.id).find((id) => outOfService.has(id));
}

/** Refuses to let anything happen on behalf of somebody whom this gateway could not read in full. */
export function requireReadInFull(directory: KnownAgents, agent: Agent): void {
  const unread = unreadBehind(directory, agent);
  if (unread !== undefined) directory.outOfService.refuse(unread);
}
