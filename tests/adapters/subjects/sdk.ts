import type { Action } from '@reeve/sdk';
import { ActionDeniedError, MaskedError, OperationTerminatedError, ResultDenied } from '@reeve/sdk';
import type { Played, Scene, Subject } from '../scene.ts';

/** The plain SDK: `agent.run` in place of each call of a model. */
export const sdk: Subject = {
  name: 'sdk',
  async play(scene: Scene): Promise<Played> {
    const { agent, model, governsModel } = scene;
    if (governsModel) {
      const { name, input_tokens: input, output_tokens: output, cached_input_tokens: cached } = model;
      await agent.run({ type: 'llm_call', model: name, promptTokens: 2000, maxOutputTokens: 400 }, ({ used }) =>
        used({ inputTokens: input, outputTokens: output, cachedInputTokens: cached }),
      );
    }
    const ends = await Promise.allSettled(scene.calls.map((call) => runOne(scene, call.tool, call.args)));
    for (const end of ends) if (end.status === 'rejected') await callOff(scene, end.reason);
    return { reads: ends.map((end) => (end.status === 'fulfilled' ? end.value : textOf(end.reason))) };
  },
};

async function runOne(scene: Scene, name: string, args: Readonly<Record<string, unknown>>): Promise<string> {
  const tool = scene.tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const action: Action = tool.startsAgent ? { type: 'agent_spawn', command: name } : { tool: name, args };
  // The plain SDK has no call around this one, so the run of a sub-agent is given by hand.
  const runId = scene.runId ?? (scene.agent.id.agentId.endsWith('sub-agent.child') ? 'run-sub-agent' : undefined);
  return scene.agent.run(action, (operation) => tool.body(args, { signal: operation.signal, operation }), {
    runId,
    waitMs: scene.approvalWaitMs,
    estimatedCostMicros: scene.costs[name],
  });
}

/** What a program does with a call that it no longer waits for. */
async function callOff({ agent }: Scene, error: unknown): Promise<void> {
  if (!(error instanceof ActionDeniedError) || error.answer.decision !== 'pending') return;
  await agent.complete(error.answer.opId, { outcome: 'cancelled', actualCostMicros: 0 });
}

/** What a program would tell its model. */
function textOf(error: unknown): string {
  const isTold = [OperationTerminatedError, ResultDenied, MaskedError].some((kind) => error instanceof kind);
  if (isTold) return (error as Error).message;
  if (!(error instanceof ActionDeniedError)) throw error;
  const { decision, reason, source, approvalId } = error.answer;
  if (source === 'sdk') return `Reeve is not reachable: ${reason}`;
  return decision === 'pending' ? `Waiting for approval ${approvalId}` : `Denied by policy: ${reason}`;
}
