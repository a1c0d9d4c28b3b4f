import { rootsWith } from '../access/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import {
  agentKey,
  checkLength,
  compileGlob,
  GlobError,
  invalid,
  isId,
  longest,
  ReeveError,
  timestamp,
  usdOfMicros,
} from '../kernel/index.ts';
import { requireRoom } from './agent-bounds.ts';
import type { Agent, AgentRecord } from './agent.ts';
import { actorOf, isRegistered } from './agent.ts';
import type { DelegationTerms } from './delegation.ts';
import { delegated } from './delegation.ts';
import { newForMs } from './delegation.ts';
import type { Link } from './delegation-links.ts';
import { agentsUnder, deepestDelegation, grantsUnder, hasLapsed, linksOf, usedUp } from './delegation-links.ts';
import { endDelegation, lapseOf } from './end-delegation.ts';
import { authenticateAgent, isHeld } from './identify.ts';
import { checkToken, freeTokenHash, newToken } from './agent-token.ts';
import type { Tenancy } from './tenancy.ts';

export interface DelegateRequest extends Omit<DelegationTerms, 'id' | 'by' | 'grantedAt' | 'expiresAt'> {
  /** Who delegates. Its token is all that it takes. */
  readonly agentId: AgentId | undefined;
  readonly token: string;
  /** The id of the delegate in the team of whoever delegates. */
  readonly childId: string;
  readonly ttlSecs: number;
  readonly name: string;
  /** The token that the delegate is to have. Empty: it gets a new one. */
  readonly childToken?: string;
}

export interface GrantedDelegation {
  readonly agentId: AgentId;
  readonly token: string;
  readonly expiresAt: EpochMs;
}

const longestTtlSecs = 86_400;
/** Every check of a delegate is held against these, and so are those of all below it. */
const mostTools = 100;
const longestToolsTogether = 8192;
/** All delegates of one agent, at all depths. They end together if it leaves. */
export const mostDelegates = 256;
/** To so many new agents may be delegated within a minute, for each that may act at once. */
const newForEach = 2;
export const mostNewDelegates = newForEach * mostDelegates;

/**
 * Lets another agent act for this one, within limits and for a time. To delegate again replaces limits and token. What
 * the delegate may do is judged at each check (`decision/judge-delegation.ts`), so nothing here asks whether whoever
 * delegates has what it gives.
 */
export function delegateAgent(gov: Tenancy, request: DelegateRequest): GrantedDelegation {
  const delegator = authenticateAgent(gov, request.agentId, request.token);
  checkForm(request);
  const { directory, clock } = gov;
  const { orgId, teamId } = delegator.record.id;
  const id: AgentId = { orgId, teamId, agentId: request.childId };
  directory.outOfService.refuse(id);
  if (isHeld(gov, delegator) || delegator.blocked) {
    throw new ReeveError('suspended', 'agent is suspended or has not confirmed a stop, so it cannot delegate');
  }
  const links = linksOf(directory, delegator);
  if (links.length >= deepestDelegation) {
    throw new ReeveError(
      'delegation_too_deep',
      `delegations may be ${deepestDelegation} deep, and this agent is the last`,
    );
  }
  const nothingLeft = usedUp(links);
  if (nothingLeft !== undefined) throw new ReeveError('delegation_used_up', nothingLeft);
  const existing = freed(gov, id, delegator);
  const again = existing === undefined ? undefined : directory.delegations.of(existing);
  if (again === undefined) requireRoomAbove(gov, delegator, links);
  directory.checkParent(id, delegator.record.id, 'child_id');

  const now = clock.now();
  const ends = links.map(({ delegation }) => delegation.expiresAt);
  const expiresAt = Math.min(now + request.ttlSecs * 1000, ...ends);
  const { childToken = '' } = request;
  const token = childToken === '' ? newToken(gov) : childToken;
  const tokenHash = freeTokenHash(gov, token, existing, 'child_token');
  const isExtended = again !== undefined && existing?.record.tokenHash === tokenHash;
  const record: AgentRecord = {
    id,
    tokenHash,
    name: request.name === '' ? (again === undefined ? '' : (existing?.record.name ?? '')) : request.name,
    framework: delegator.record.framework,
    version: '',
    parent: delegator.record.id,
    metadata: {},
    toolNames: [],
    registeredAt: now,
    suspension: existing?.record.suspension ?? null,
    // With the same token, its open streams stay.
    controlled: isExtended && gov.control.carriesOut(existing.key),
    // Whoever registered the delegator stands behind the delegate as well.
    registeredWith: delegator.record.registeredWith.reduce<readonly string[]>(
      (known, credential) => rootsWith(gov.keys, known, credential),
      existing?.record.registeredWith ?? [],
    ),
  };
  requireRoom(gov, existing, record);
  const { actions, tools, maxCostMicros, maxChecks, maxDelegates } = request;
  const by = delegator.record.id.agentId;
  gov.journal.apply({ kind: 'agent_saved', agent: record });
  const limits = { actions, tools, maxCostMicros, maxChecks, ...(maxDelegates === undefined ? {} : { maxDelegates }) };
  const terms = { id, by, grantedAt: now, expiresAt, ...limits };
  gov.journal.apply({ kind: 'delegation_saved', delegation: delegated(terms, again) });
  gov.journal.record(
    draftOf({
      at: now,
      eventType: 'AgentDelegated',
      lineage: directory.find(id)?.lineage ?? delegator.lineage,
      actor: actorOf(delegator),
      payload: canonicalJson({
        actions,
        again: again !== undefined,
        by: delegator.key,
        expires_at: timestamp(expiresAt),
        max_checks: maxChecks,
        max_delegates: maxDelegates ?? null,
        max_cost_usd: maxCostMicros === null ? null : usdOfMicros(maxCostMicros),
        name: redactText(record.name),
        tools: tools.map(redactText),
      }),
    }),
  );
  gov.journal.apply({ type: 'agent', at: now, agent: id, change: 'registered' });
  return { agentId: id, token, expiresAt };
}

/** Each delegation above bounds how many agents act below it, and so does the one agent that stands above all. */
function requireRoomAbove(gov: Tenancy, delegator: Agent, links: readonly Link[]): void {
  for (const { delegate, delegation } of links) {
    if (delegation.maxDelegates !== undefined) requireRoomUnder(gov, delegate, delegation.maxDelegates);
  }
  requireRoomUnder(gov, links.at(-1)?.delegator ?? delegator, mostDelegates);
}

/** Whoever delegates to ever new agents, at whatever depth, has a bounded number of them, and gets new ones at a bounded rate. */
function requireRoomUnder({ directory, clock }: Tenancy, above: Agent, most: number): void {
  if (agentsUnder(directory, above).length >= most) {
    const why =
      most === 0 ? `no agent may act for "${above.key}"` : `${most} agents act for "${above.key}" already; revoke some`;
    throw new ReeveError('too_many_agents', why);
  }
  const since = clock.now() - newForMs;
  const lately = grantsUnder(directory, above).filter((at) => at > since);
  if (lately.length < newForEach * most) return;
  const room = timestamp(Math.min(...lately) + newForMs);
  throw new ReeveError(
    'too_many_agents',
    `"${above.key}" has delegated to ${newForEach * most} new agents within a minute; delegate to one of them again, or to new ones after ${room}`,
  );
}

/** The agent with this id, if there is one that may be delegated to. One whose delegation is over is free. */
function freed(gov: Tenancy, id: AgentId, delegator: Agent): Agent | undefined {
  const { directory } = gov;
  const existing = directory.find(id);
  if (existing === undefined || !isRegistered(existing)) return answered(gov, existing);
  const delegation = directory.delegations.of(existing);
  if (delegation !== undefined && hasLapsed(directory, existing, gov.clock.now())) {
    endDelegation(gov, existing, lapseOf(delegation, gov.clock.now()));
    return answered(gov, directory.find(id));
  }
  if (delegation?.by === delegator.record.id.agentId) return existing;
  throw new ReeveError(
    'agent_exists',
    `child_id: there is an agent "${agentKey(id)}" already, and it acts for another`,
  );
}

/**
 * A stop that an agent of its own has not confirmed would be that of the delegate from then on. What a former delegate has
 * not confirmed is: it blocks the next one until somebody lifts it.
 */
function answered({ control, directory }: Tenancy, agent: Agent | undefined): Agent | undefined {
  if (agent === undefined || !control.hasUnanswered(agent.key)) return agent;
  if (directory.delegations.find(agent.key) !== undefined) return agent;
  throw new ReeveError('suspended', `child_id: an agent "${agent.key}" was here before, and has not confirmed a stop`);
}

function checkForm({
  childId,
  ttlSecs,
  tools,
  maxCostMicros,
  maxChecks,
  maxDelegates,
  name,
  childToken = '',
}: DelegateRequest): void {
  if (!isId(childId))
    throw invalid('child_id', 'must be the id of an agent: 1 to 128 letters, digits, ".", "_" or "-"');
  if (!Number.isInteger(ttlSecs) || ttlSecs < 1 || ttlSecs > longestTtlSecs) {
    throw invalid('ttl_secs', `must be 1 to ${longestTtlSecs}`);
  }
  checkToken('child_token', childToken);
  checkLimit('max_cost_micros', maxCostMicros);
  checkLimit('max_checks', maxChecks);
  checkLimit('max_delegates', maxDelegates ?? null);
  checkLength('name', name, longest.name);
  if (tools.length > mostTools) throw invalid('tools', `must be at most ${mostTools}`);
  let together = 0;
  for (const glob of tools) {
    checkLength('tools', glob, longest.name);
    together += glob.length;
    checkGlob(glob);
  }
  if (together > longestToolsTogether) {
    throw invalid('tools', `must be at most ${longestToolsTogether} characters together`);
  }
}

function checkLimit(field: string, limit: number | null): void {
  if (limit !== null && (!Number.isSafeInteger(limit) || limit < 0)) throw invalid(field, 'must not be negative');
}

function checkGlob(glob: string): void {
  if (glob === '') throw invalid('tools', 'must not be empty');
  try {
    compileGlob(glob);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw invalid('tools', error.message);
  }
}
