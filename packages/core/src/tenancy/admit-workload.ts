import type { Actor } from '../audit/index.ts';
import { ownWork } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey, announce, ReeveError } from '../kernel/index.ts';
import { isRegistered, unregisteredAgent } from './agent.ts';
import { newToken } from './agent-token.ts';
import { saveAgent, withoutDelegation } from './register-agent.ts';
import type { Tenancy } from './tenancy.ts';
import type { Shown, WorkloadProof, Workloads } from './workloads.ts';

export interface Admitting extends Tenancy {
  readonly workloads: Workloads;
}

/**
 * Every call that comes with the token of an agent begins with this: a JWT is verified, and its agent is registered if it
 * is not yet and its entry says so. Undefined if there is nothing to wait for, as for every other token. `claim` is the
 * agent that the caller says it is, if the call has one.
 */
export function admitWorkload(gov: Admitting, token: string, claim: AgentId | undefined): Promise<void> | undefined {
  const shown = gov.workloads.show(token);
  if (shown === undefined) return undefined;
  return shown instanceof Promise ? shown.then((known) => admit(gov, known, claim)) : admit(gov, shown, claim);
}

/**
 * The same for a check. It is answered in any case, so what keeps its own agent from being registered is a reason to
 * deny it, and no failure of the stream or the batch that it came in.
 */
export function admitToCheck(gov: Admitting, token: string, claim: AgentId): Promise<void> | undefined {
  return admitWorkload(gov, token, claim)?.catch((error: unknown) => {
    if (!(error instanceof ReeveError)) throw error;
    if (error.code === 'store_unavailable' && !gov.directory.outOfService.has(claim)) throw error;
    gov.workloads.refuse(token, `cannot register its agent: ${error.message}`);
  });
}

function admit(gov: Admitting, shown: Shown, claim: AgentId | undefined): Promise<void> | undefined {
  if ('why' in shown || !shown.registers) return undefined;
  if (claim !== undefined && agentKey(claim) !== agentKey(shown.agentId)) return undefined;
  if (isThere(gov, shown.agentId)) return undefined;
  return gov.journal.turn(ownWork, () => registerWorkload(gov, shown));
}

/** Whether there is an agent for the workload. A delegate that has its id is none. */
function isThere({ directory }: Tenancy, id: AgentId): boolean {
  const known = directory.find(id);
  return known !== undefined && isRegistered(known) && directory.delegations.of(known) === undefined;
}

/**
 * As if somebody had registered it, with a token that nobody has. Its issuer says who it is, and an agent of its team only
 * chose the name of a delegate: so that one gives way.
 */
function registerWorkload(gov: Tenancy, { agentId, expiresAt }: WorkloadProof): void {
  gov.directory.outOfService.refuse(agentId);
  if (gov.clock.now() >= expiresAt || isThere(gov, agentId)) return;
  const actor: Actor = { id: agentKey(agentId), kind: 'agent', label: '' };
  const wasDelegate = gov.directory.delegations.find(agentKey(agentId)) !== undefined;
  const existing = withoutDelegation(gov, agentId, () => ({ cause: 'workload', actor }));
  if (wasDelegate && existing !== undefined) announce(gov.reactions.delegateGaveWay, existing);
  const { suspension, registeredWith } = existing?.record ?? unregisteredAgent(agentId);
  const record = {
    ...unregisteredAgent(agentId),
    tokenHash: gov.sha256(newToken(gov)),
    registeredAt: gov.clock.now(),
    suspension,
    registeredWith,
  };
  saveAgent(gov, record, actor, { created: true, workload: true });
}
