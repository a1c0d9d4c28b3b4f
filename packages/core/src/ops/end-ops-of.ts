import type { Actor } from '../audit/entry.ts';
import type { Agent } from '../tenancy/agent.ts';
import { isOver } from './lifecycle.ts';
import { moveOp } from './move-op.ts';
import type { Operations } from './operations.ts';

/** Terminates and forgets what an agent that leaves has in flight. */
export function endOpsOf(gov: Operations, { agent, actor }: { readonly agent: Agent; readonly actor: Actor }): void {
  for (const op of [...gov.ops.of(agent).values()]) {
    if (!isOver(op.state)) moveOp(gov, op, 'terminate', { actor, reason: 'agent deregistered' });
    if (op.savedSeq > 0) gov.journal.write({ kind: 'op_removed', id: agent.record.id, opId: op.opId });
    // Forgotten at once: should the agent come back and use the same ids, they are other operations.
    gov.journal.onFailure(gov.ops.forget(op));
  }
}
