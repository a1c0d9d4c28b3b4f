import type { Operations } from './operations.ts';
import { actorOf } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { authenticateAgent } from '../tenancy/authenticate-agent.ts';
import type { Completion } from './complete-op.ts';
import { finishOp } from './complete-op.ts';
import type { OpRecord } from './op.ts';

export interface CompleteRequest extends Completion {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly opId: string;
}

/** The agent reports that an allowed action has finished: running becomes completing. */
export async function completeAction(gov: Operations, request: CompleteRequest): Promise<OpRecord> {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  const op = gov.ops.get(agent, request.opId);
  return await finishOp(gov, op, request, { actor: actorOf(agent), reason: '' });
}
