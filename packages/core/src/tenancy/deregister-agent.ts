import { announce, checkLength, longest } from '../kernel/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import { endDelegation, endDelegationsBy } from './end-delegation.ts';
import { authenticateAgent } from './identify.ts';
import type { Tenancy } from './tenancy.ts';
import { actorOf } from './agent.ts';
import type { AgentId } from '../kernel/index.ts';

export interface DeregisterRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly reason: string;
}

/**
 * Ends a registration: the token stops at once, and operations in flight are terminated. They are shown until they are
 * swept, as others are.
 */
export function deregisterAgent(gov: Tenancy, request: DeregisterRequest): void {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  checkLength('reason', request.reason, longest.text);
  const actor = actorOf(agent);
  const reason = redactText(request.reason);
  if (gov.directory.delegations.of(agent) !== undefined) {
    endDelegation(gov, agent, { cause: 'deregistered', actor, reason });
    return;
  }
  endDelegationsBy(gov, agent, actor);
  const keepsOps = gov.ops.of(agent).size > 0;
  announce(gov.reactions.agentLeaving, { agent, actor, because: 'agent deregistered', keepsOps });
  gov.journal.record(
    draftOf({
      at: gov.clock.now(),
      eventType: 'AgentDeregistered',
      lineage: agent.lineage,
      actor,
      reason: reason === '' ? null : reason,
      payload: canonicalJson({}),
    }),
  );
  const { id } = agent.record;
  gov.journal.apply({ type: 'agent', at: gov.clock.now(), agent: id, change: 'deregistered' });
  if (agent.coverage !== null) gov.journal.apply({ kind: 'agent_uses_removed', id });
  // An unconfirmed stop outlives the registration, as a suspension does: no agent escapes them by registering again.
  const isKept = keepsOps || gov.control.hasUnanswered(agent.key);
  gov.journal.apply({ kind: 'agent_removed', id, isKept, ...(keepsOps && { keepsOps }) });
}
