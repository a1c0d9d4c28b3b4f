import { redactText } from '../audit/redact.ts';
import { checkLength, checkMicros, longestText } from '../decision/check-request.ts';
import type { Governance } from '../governance.ts';
import { actorOf } from '../tenancy/agent.ts';
import type { AgentId } from '../tenancy/agent-id.ts';
import { authenticateAgent } from '../tenancy/authenticate-agent.ts';
import { changeOp } from './change-op.ts';
import type { OpRecord } from './op.ts';
import { recordOf } from './op.ts';

export type Outcome = 'succeeded' | 'failed' | 'cancelled' | null;

export interface CompleteRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly opId: string;
  readonly actualCostMicros: number | null;
  readonly outcome: Outcome;
  readonly detail: string;
}

/** The agent reports that an allowed action has finished: running becomes completing. */
export async function completeAction(gov: Governance, request: CompleteRequest): Promise<OpRecord> {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  if (request.actualCostMicros !== null) checkMicros('actual_cost_micros', request.actualCostMicros);
  checkLength('detail', request.detail, longestText);
  const op = gov.ops.get(agent, request.opId);

  const reserved = op.costMicros;
  op.costMicros = request.actualCostMicros ?? reserved;
  try {
    changeOp(gov, op, 'complete', {
      actor: actorOf(agent),
      reason: '',
      details: {
        detail: redactText(request.detail),
        outcome: request.outcome,
        reserved_micros: reserved,
      },
    });
  } catch (error) {
    op.costMicros = reserved;
    throw error;
  }
  gov.journal.onFailure(() => {
    op.costMicros = reserved;
  });
  const completed = recordOf(op);
  await gov.journal.committed();
  return completed;
}
