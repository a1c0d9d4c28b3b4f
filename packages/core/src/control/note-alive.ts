import type { Governance } from '../governance.ts';
import type { Op } from '../ops/op.ts';
import type { Agent } from '../tenancy/agent.ts';

/** A sign of life of an agent: what it runs is not stale any more. On every decision's path, so it does next to nothing. */
export function noteAlive(gov: Governance, agent: Agent, at = gov.clock.elapsed()): void {
  agent.aliveAt = at;
  if (agent.silent) wake(gov, agent);
}

function wake(gov: Governance, agent: Agent): void {
  const back: Op[] = [];
  for (const op of gov.ops.of(agent).values()) if (op.stale) back.push(op);
  agent.silent = false;
  for (const op of back) {
    op.stale = false;
    if (op.state !== 'running') continue;
    const { id } = agent.record;
    const details = { op_id: op.opId };
    gov.journal.publish({ type: 'audit_alert', at: gov.clock.now(), agent: id, alert: 'op_back', details });
  }
  gov.journal.onFailure(() => {
    agent.silent = true;
    for (const op of back) op.stale = true;
  });
}
