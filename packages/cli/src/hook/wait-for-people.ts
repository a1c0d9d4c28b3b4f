import { connect } from '@reeve/sdk';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import type { ActionAnswer } from './describe-answer.ts';
import type { Asker } from './hook-messages.ts';

/** Waits for what is held, all at once, on the control stream. What is still held in the end stays held. */
export async function waitForPeople(
  held: readonly ActionAnswer[],
  asker: Asker,
  gateway: GrpcGateway,
  { waitMs, canRewrite }: { readonly waitMs: number; readonly canRewrite: boolean },
): Promise<readonly ActionAnswer[]> {
  using reeve = connect({ ...gateway, onUnavailable: 'throw' });
  const { agentId, token, host, trace, subjectToken } = asker;
  // Once the hook has answered, nobody is there to confirm a stop.
  await using agent = reeve.attach({ ...agentId, token, shared: true, waitsOnly: true });
  const wait = async (answer: ActionAnswer): Promise<ActionAnswer> => {
    const { planned, span } = answer;
    // The same question as before: what is rewritten is denied to who cannot rewrite.
    const details = {
      traceId: trace,
      spanId: span,
      runId: trace,
      summary: planned.note,
      subjectToken: subjectToken(),
      via: { door: 'hook', name: host },
      waitMs,
      canRewrite,
    } as const;
    const { decision, reason, policyRule, approvalId } = await agent.decision(planned.action, details);
    return { ...answer, decision, reason, policyRule, approvalId: approvalId ?? answer.approvalId };
  };
  // Awaited here, because the connection ends with this function.
  return await Promise.all(held.map(wait));
}
