import { isAtLeastAsWide, widthOf, requireAuthority, standingOf } from '../access/index.ts';
import type { Principal } from '../access/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import { newControlId } from './control-op.ts';
import type { Controls } from './controls.ts';
import { isRunning, runsOn } from './held-ops.ts';
import { issueControls } from './issue-controls.ts';
import { saveReceipt } from './receipts.ts';
import type { AgentId } from '../kernel/index.ts';
import type { Op, Receipt } from '../ops/index.ts';
import { lifted } from '../ops/index.ts';
import type { Agent, Suspension } from '../tenancy/index.ts';
import { findAgent, registeredBy } from '../tenancy/index.ts';

export interface SuspendAgent {
  readonly by: Principal;
  readonly agent: AgentId;
  readonly reason: string;
}

/**
 * Suspends an agent: its checks are denied and its running operations pause. The suspension outlives restarts and
 * registrations.
 */
export function suspendAgent(gov: Controls, { by, agent: id, reason }: SuspendAgent): void {
  const agent = findAgent(gov, by, id);
  const why = redactText(reason);
  const { suspension } = agent.record;
  const width = widthOf(by);
  const impose = (imposed: Suspension) =>
    gov.journal.apply({ kind: 'agent_suspended', agent: agent.record, suspension: imposed });
  if (suspension === null) {
    impose({ at: gov.clock.now(), reason: why, width });
    note(gov, by, agent, 'AgentSuspended', why);
    moveForSuspension(gov, by, agent, 'pause', { reason: why, width });
  } else if (!isAtLeastAsWide(suspension.width, width)) {
    // From now on only the wider credential lifts the suspension. What it has paused stays paused.
    impose({ ...suspension, reason: why, width });
    note(gov, by, agent, 'AgentSuspended', why);
  }
}

/**
 * Lifts a suspension. The agent is answered again, and what the suspension paused runs on. What an operator paused by
 * itself stays paused. If the agent has not confirmed a stop, this lifts the block.
 */
export function resumeAgent(gov: Controls, { by, agent: id, reason }: SuspendAgent): void {
  const agent = findAgent(gov, by, id);
  const why = redactText(reason);
  requireLifting(gov, by, agent);
  if (agent.record.suspension !== null || agent.blocked) {
    note(gov, by, agent, 'AgentResumed', why);
    liftBlock(gov, agent);
  }
  if (agent.record.suspension !== null) {
    const width = widthOf(by);
    gov.journal.apply({ kind: 'agent_resumed', id: agent.record.id, width });
    moveForSuspension(gov, by, agent, 'resume', { reason: why, width });
  }
}

/** Resuming lifts the suspension and all blocks, or nothing. */
function requireLifting(gov: Controls, by: Principal, agent: Agent): void {
  gov.directory.outOfService.refuse(agent.record.id);
  const caller = standingOf(gov.keys, by, registeredBy(gov.directory, agent));
  const { suspension } = agent.record;
  if (suspension !== null) requireAuthority(caller, 'suspension', suspension.width);
  for (const { width } of blocksOf(gov, agent)) requireAuthority(caller, 'unconfirmed_stop', width);
}

function liftBlock(gov: Controls, agent: Agent): void {
  for (const receipt of blocksOf(gov, agent)) saveReceipt(gov, receipt, lifted(receipt));
}

function blocksOf(gov: Controls, agent: Agent): readonly Receipt[] {
  return [...(gov.control.find(agent.key)?.blocking.values() ?? [])];
}

/**
 * Pauses the running operations of an agent, or resumes those that a suspension paused. While its org or team is
 * suspended, they go on waiting.
 */
export function moveForSuspension(
  gov: Controls,
  by: Pick<Principal, 'actor' | 'requestId'>,
  agent: Agent,
  action: 'pause' | 'resume',
  { reason, width }: Pick<Suspension, 'reason' | 'width'>,
): void {
  const isConcerned = action === 'pause' ? isRunning : (op: Op) => runsOn(gov, op);
  issueControls(gov, [...gov.ops.of(agent)].filter(isConcerned), {
    by,
    action,
    reason: reason === '' ? `agent ${action === 'pause' ? 'suspended' : 'resumed'}` : reason,
    cause: 'suspension',
    width,
    bulkId: null,
    nextId: () => newControlId(gov),
  });
}

function note(
  gov: Controls,
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
  gov.journal.apply({ type: 'agent', at, agent: agent.record.id, change });
}
