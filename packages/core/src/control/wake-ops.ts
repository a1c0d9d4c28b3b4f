import type { Controls } from './controls.ts';
import type { Op } from '../ops/op.ts';
import type { Agent } from '../tenancy/agent.ts';

/** An agent is heard of again: what it runs is not stale any more. */
export function wakeOps(gov: Controls, agent: Agent): void {
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
