import { ownWork } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey, ReeveError } from '../kernel/index.ts';
import { isRegistered, unregisteredAgent } from './agent.ts';
import { newToken } from './agent-token.ts';
import { saveAgent } from './register-agent.ts';
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
  const known = gov.directory.find(shown.agentId);
  if (known !== undefined && isRegistered(known)) return undefined;
  return gov.journal.turn(ownWork, () => registerWorkload(gov, shown));
}

/** As if somebody had registered it, with a token that nobody has. */
function registerWorkload(gov: Tenancy, { agentId, expiresAt }: WorkloadProof): void {
  gov.directory.outOfService.refuse(agentId);
  const existing = gov.directory.find(agentId);
  if (gov.clock.now() >= expiresAt || (existing !== undefined && isRegistered(existing))) return;
  const { suspension, registeredWith } = existing?.record ?? unregisteredAgent(agentId);
  const record = {
    ...unregisteredAgent(agentId),
    tokenHash: gov.sha256(newToken(gov)),
    registeredAt: gov.clock.now(),
    suspension,
    registeredWith,
  };
  saveAgent(gov, record, { id: agentKey(agentId), kind: 'agent', label: '' }, { created: true, workload: true });
}
