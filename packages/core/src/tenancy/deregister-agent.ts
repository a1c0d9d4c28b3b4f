import { announce, checkLength, longest } from '../kernel/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import { credentialEnded, authenticateAgent } from './identify.ts';
import type { Tenancy } from './tenancy.ts';
import type { Agent } from './agent.ts';
import { actorOf } from './agent.ts';
import { forgetUses } from './save-uses.ts';
import { withoutToken } from './tenancy-slice.ts';
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
  gov.journal.publish({ type: 'agent', at: gov.clock.now(), agent: agent.record.id, change: 'deregistered' });
  removeFrom(gov, agent);
  gov.journal.onCommitted(() => {
    gov.control.endStreams(agent.key, credentialEnded());
    gov.control.discardEmpty(agent.key);
  });
}

/**
 * A suspension and an unconfirmed stop outlive the registration, so that no agent escapes them by registering again.
 * The credentials that registered the agent stay with them.
 */
function removeFrom(gov: Tenancy, agent: Agent): void {
  const { record, lastSeenAt } = agent;
  const owes = gov.control.owesAnything(agent.key);
  forgetUses(gov, agent);
  // The store decides whether the agent is suspended: another gateway may have suspended or resumed it.
  gov.journal.write({ kind: 'agent_removed', id: record.id, isKept: owes });
  if (record.suspension === null && !owes) {
    gov.directory.remove(agent);
    gov.journal.onFailure(() => gov.directory.reinstate(agent));
  } else {
    gov.directory.put(withoutToken(record), lastSeenAt);
    gov.journal.onFailure(() => gov.directory.put(record, lastSeenAt));
  }
}
