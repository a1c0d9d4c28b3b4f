import { announce, checkLength, longest } from '../kernel/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import { authenticateAgent } from './identify.ts';
import type { Tenancy } from './tenancy.ts';
import { actorOf } from './agent.ts';
import type { AgentId } from '../kernel/index.ts';

export interface DeregisterRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly reason: string;
}

/** Ends a registration: the token stops at once, and operations in flight are terminated. */
export function deregisterAgent(gov: Tenancy, request: DeregisterRequest): void {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  checkLength('reason', request.reason, longest.text);
  const actor = actorOf(agent);
  announce(gov.reactions.agentLeaving, { agent, actor });
  gov.journal.record(
    draftOf({
      at: gov.clock.now(),
      eventType: 'AgentDeregistered',
      lineage: agent.lineage,
      actor,
      reason: request.reason === '' ? null : redactText(request.reason),
      payload: canonicalJson({}),
    }),
  );
  const { id } = agent.record;
  gov.journal.apply({ type: 'agent', at: gov.clock.now(), agent: id, change: 'deregistered' });
  if (agent.coverage !== null) gov.journal.apply({ kind: 'agent_uses_removed', id });
  // An unconfirmed stop outlives the registration, as a suspension does: no agent escapes them by registering again.
  gov.journal.apply({ kind: 'agent_removed', id, isKept: gov.control.owesAnything(agent.key) });
}
