import { system } from '../audit/entry.ts';
import { credentialEnded } from '../tenancy/find-agent.ts';
import type { Controls } from './controls.ts';
import type { Agent, AgentRecord } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { announce } from '../kernel/announce.ts';
import { moveForSuspension } from './suspend-agent.ts';

/**
 * Takes over what another gateway on the same store has made durable of an agent; undefined: it is gone. Its entry and
 * its row are there already. What follows for the operations of this gateway is done here: those of an agent that has
 * left are terminated, those of one that was suspended or resumed are paused or run on.
 */
export async function followAgent(gov: Controls, id: AgentId, record: AgentRecord | undefined): Promise<void> {
  const agent = gov.directory.find(id);
  const before = agent?.record;
  if (agent === undefined || before === undefined) {
    if (record !== undefined) appear(gov, record);
    return;
  }
  if (before.tokenHash !== null && (record?.tokenHash ?? null) === null)
    announce(gov.reactions.agentLeaving, { agent, actor: system });
  if (record === undefined) gov.directory.remove(agent);
  else gov.directory.put(record, Math.max(agent.lastSeenAt, record.registeredAt));
  if (record !== undefined) moveOps(gov, agent, before, record);
  if (before.tokenHash !== record?.tokenHash) gov.control.endStreams(agent.key, credentialEnded());
  await gov.journal.committed();
}

function appear(gov: Controls, record: AgentRecord): void {
  const agent = gov.directory.put(record, record.registeredAt);
  agent.blocked = gov.control.isBlocked(agent.key);
}

function moveOps(gov: Controls, agent: Agent, before: AgentRecord, after: AgentRecord): void {
  const by = { actor: system };
  if (before.suspension === null && after.suspension !== null) {
    moveForSuspension(gov, by, agent, 'pause', after.suspension);
  }
  if (before.suspension !== null && after.suspension === null) {
    moveForSuspension(gov, by, agent, 'resume', { ...before.suspension, reason: '' });
  }
}
