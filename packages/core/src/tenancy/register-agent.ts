import { rootsWith, requireReach } from '../access/index.ts';
import type { Principal } from '../access/index.ts';
import type { Actor } from '../audit/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import { registeredAgent, touchAgent } from './identify.ts';
import { checkLength, longest, invalid, ReeveError, agentKey, parseAgentId } from '../kernel/index.ts';
import type { Tenancy } from './tenancy.ts';
import { requireRoom } from './agent-bounds.ts';
import { checkToken, freeTokenHash, newToken } from './agent-token.ts';
import type { Agent, AgentRecord, TokenLife } from './agent.ts';
import type { Delegation } from './delegation.ts';
import { hasLapsed } from './delegation-links.ts';
import type { Ending } from './end-delegation.ts';
import { endDelegation, lapseOf } from './end-delegation.ts';
import { isRegistered } from './agent.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';

export interface RegisterRequest {
  readonly by: Principal;
  readonly agentId: AgentId | undefined;
  /** Empty: the gateway issues one. */
  readonly token: string;
  readonly name: string;
  readonly framework: string;
  readonly version: string;
  readonly parent: AgentId | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly toolNames: readonly string[];
  /** How long the token works, in seconds; undefined: always. */
  readonly ttlSecs?: number | undefined;
  /**
   * What happens to an agent that is registered already: it is refused, it stays as it is and its metadata is told, or it keeps
   * what the request does not say and only its token is new. A request with the token that the agent has is a repetition. Without this, the request replaces its record.
   */
  readonly ifRegistered?: 'refuse' | 'tell' | 'keep';
}

export interface Registration {
  /** Empty if the agent stays as it is. */
  readonly token: string;
  readonly created: boolean;
  /** When the token ends; null: never. */
  readonly expiresAt: EpochMs | null;
  /** Of an agent that stays as it is. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** How long a token may be asked to work, in seconds. */
const shortestTtl = 60;
const longestTtl = 31_536_000;
/** The limit of all tool names together: the directory is held in memory. */
const longestTogether = 65_536;

/** Registers an agent, or replaces its record and its token. The old token stops at once. */
export function registerAgent(gov: Tenancy, request: RegisterRequest): Registration {
  const { by } = request;
  const id = parseAgentId(request.agentId);
  requireReach(by, id);
  checkForm(request);
  gov.directory.outOfService.refuse(id);
  const existing = withoutDelegation(gov, id);
  const created = existing === undefined || !isRegistered(existing);
  // Who sends the same token again did not hear the first answer.
  const isRepeated = existing !== undefined && gov.sha256(request.token) === existing.record.tokenHash;
  if (!created && !isRepeated && request.ifRegistered === 'tell') {
    return { token: '', created: false, expiresAt: null, metadata: existing.record.metadata };
  }
  if (!created && !isRepeated && request.ifRegistered === 'refuse') {
    throw new ReeveError('agent_exists', `there is an agent "${agentKey(id)}" already; its token would be replaced`);
  }
  const kept = created || request.ifRegistered !== 'keep' ? undefined : existing.record;
  const parent = kept === undefined ? parseParent(request.parent) : kept.parent;
  if (kept === undefined) gov.directory.checkParent(id, parent);

  const token = request.token === '' ? newToken(gov) : request.token;
  const tokenHash = freeTokenHash(gov, token, existing, 'credential_token');

  const tokenLife = lifeFrom(gov.clock.now(), request.ttlSecs ?? kept?.tokenLife?.ttlSecs ?? null);
  const record: AgentRecord = {
    id,
    tokenHash,
    ...(tokenLife.expiresAt === null ? {} : { tokenLife }),
    name: request.name === '' && kept !== undefined ? kept.name : request.name,
    framework: request.framework === '' && kept !== undefined ? kept.framework : request.framework,
    version: kept?.version ?? request.version,
    parent,
    metadata: kept?.metadata ?? request.metadata,
    toolNames: kept?.toolNames ?? request.toolNames,
    registeredAt: gov.clock.now(),
    suspension: existing?.record.suspension ?? null,
    // Registering with the same token keeps the open streams.
    controlled: existing?.record.tokenHash === tokenHash && gov.control.carriesOut(existing.key),
    registeredWith: rootsWith(gov.keys, existing?.record.registeredWith ?? [], by.credentialId),
  };
  saveAgent(gov, record, by.actor, { created });
  return { token, created, expiresAt: tokenLife.expiresAt };
}

/** Puts the record of a registered agent in place, and tells of it. */
export function saveAgent(
  gov: Tenancy,
  record: AgentRecord,
  actor: Actor,
  how: { readonly created: boolean; readonly workload?: true },
): void {
  const { id, parent } = record;
  requireRoom(gov, gov.directory.find(id), record);
  gov.journal.apply({ kind: 'agent_saved', agent: record });
  const agent = registeredAgent(gov, id);
  touchAgent(gov, agent);
  const at = gov.clock.now();
  gov.journal.record(
    draftOf({
      at,
      eventType: 'AgentRegistered',
      lineage: agent.lineage,
      actor,
      payload: canonicalJson({
        ...how,
        framework: redactText(record.framework),
        name: redactText(record.name),
        parent: parent === null ? null : agentKey(parent),
        version: redactText(record.version),
      }),
    }),
  );
  gov.journal.apply({ type: 'agent', at, agent: id, change: 'registered' });
}

/** Nobody takes the place of a delegate. */
function refuseDelegate({ key }: Agent, { by }: Delegation): never {
  throw new ReeveError('agent_exists', `the agent "${key}" acts for "${by}" until that is over`);
}

/** The agent with this id, if there is one. One whose delegation is over leaves; `ending` says how one that lasts ends. */
export function withoutDelegation(
  gov: Tenancy,
  id: AgentId,
  ending: (agent: Agent, delegation: Delegation) => Ending = refuseDelegate,
): Agent | undefined {
  const { directory } = gov;
  const existing = directory.find(id);
  if (existing === undefined) return undefined;
  const now = gov.clock.now();
  const delegation = directory.delegations.of(existing);
  if (delegation !== undefined) {
    const hasEnded = hasLapsed(directory, existing, now);
    endDelegation(gov, existing, hasEnded ? lapseOf(delegation, now) : ending(existing, delegation));
  }
  // It is an agent of its own from now on.
  if (directory.delegations.find(existing.key) !== undefined) gov.journal.apply({ kind: 'delegation_removed', id });
  return directory.find(id);
}

function parseParent(parent: AgentId | undefined): AgentId | null {
  const none = parent === undefined || (parent.orgId === '' && parent.teamId === '' && parent.agentId === '');
  return none ? null : parseAgentId(parent, 'parent_agent_id');
}

/** The life of a token that begins now. */
export function lifeFrom(now: EpochMs, ttlSecs: number | null): TokenLife {
  return { ttlSecs, expiresAt: ttlSecs === null ? null : now + ttlSecs * 1000, former: [] };
}

function checkForm(request: RegisterRequest): void {
  const { ttlSecs } = request;
  if (ttlSecs !== undefined && !(Number.isInteger(ttlSecs) && ttlSecs >= shortestTtl && ttlSecs <= longestTtl)) {
    throw invalid('token_ttl_secs', `must be ${shortestTtl} to ${longestTtl}, or absent for a token without end`);
  }
  checkToken('credential_token', request.token);
  checkLength('name', request.name, longest.name);
  checkLength('framework', request.framework, longest.name);
  checkLength('version', request.version, longest.version);
  if (request.toolNames.length > 1000) throw invalid('tool_names', 'must be at most 1000');
  const named = request.toolNames.reduce((sum, { length }) => sum + length, 0);
  if (named > longestTogether) throw invalid('tool_names', `must be at most ${longestTogether} characters together`);
  for (const tool of request.toolNames) checkLength('tool_names', tool, longest.name);
  const metadata = Object.entries(request.metadata);
  if (metadata.length > 64) throw invalid('metadata', 'must have at most 64 members');
  for (const [name, value] of metadata) {
    checkLength('metadata', name, 128);
    checkLength(`metadata.${name}`, value, 1024);
  }
}
