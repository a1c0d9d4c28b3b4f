import type { Principal } from '../access/principal.ts';
import { requireScope } from '../access/principal.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import { redactText } from '../audit/redact.ts';
import type { Governance } from '../governance.ts';
import { changeOp } from '../ops/change-op.ts';
import type { Agent, Suspension } from './agent.ts';
import type { AgentId } from './agent-id.ts';
import { findAgent } from './find-agent.ts';

/** Suspends an agent: its checks are denied and its running operations paused. It outlives restart and registration. */
export async function suspendAgent(gov: Governance, by: Principal, id: AgentId, reason: string): Promise<Agent> {
  requireScope(by, 'write');
  const agent = findAgent(gov, by, id);
  const why = redactText(reason);
  if (agent.record.suspension === null) {
    setSuspension(gov, agent, { at: gov.clock.now(), reason: why });
    note(gov, by, agent, 'AgentSuspended', why);
    moveAll(gov, agent, by, 'pause', why === '' ? 'agent suspended' : why);
  }
  await gov.journal.committed();
  return agent;
}

/** Lifts a suspension: the agent is answered again, and what it had paused runs on. */
export async function resumeAgent(gov: Governance, by: Principal, id: AgentId, reason: string): Promise<Agent> {
  requireScope(by, 'write');
  const agent = findAgent(gov, by, id);
  const why = redactText(reason);
  if (agent.record.suspension !== null) {
    setSuspension(gov, agent, null);
    note(gov, by, agent, 'AgentResumed', why);
    moveAll(gov, agent, by, 'resume', why === '' ? 'agent resumed' : why);
  }
  await gov.journal.committed();
  return agent;
}

function setSuspension(gov: Governance, agent: Agent, suspension: Suspension | null): void {
  const { record, lastSeenAt } = agent;
  const changed = { ...record, suspension };
  gov.directory.put(changed, lastSeenAt);
  gov.journal.onFailure(() => gov.directory.put(record, lastSeenAt));
  gov.journal.write({ kind: 'agent_saved', agent: changed });
}

function moveAll(gov: Governance, agent: Agent, by: Principal, trigger: 'pause' | 'resume', reason: string): void {
  const from = trigger === 'pause' ? 'running' : 'paused';
  for (const op of agent.ops.values()) {
    if (op.state === from) changeOp(gov, op, trigger, { actor: by.actor, reason });
  }
}

function note(
  gov: Governance,
  by: Principal,
  agent: Agent,
  eventType: 'AgentSuspended' | 'AgentResumed',
  reason: string,
): void {
  const at = gov.clock.now();
  gov.journal.record(
    draftOf({
      at,
      eventType,
      lineage: agent.lineage,
      actor: by.actor,
      reason: reason === '' ? null : reason,
      payload: canonicalJson(by.requestId === undefined ? {} : { request_id: by.requestId }),
    }),
  );
  const change = eventType === 'AgentSuspended' ? 'suspended' : 'resumed';
  gov.journal.publish({ type: 'agent', at, agent: agent.record.id, change });
}
