import { Agent, Runner, setTracingDisabled, tool, Usage } from '@openai/agents-core';
import type { AgentInputItem } from '@openai/agents-core';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents-core/testing';
import { currentOperation } from '@reeve/sdk';
import { govern, governModel } from '@reeve/sdk/openai-agents';
import type { Played, Scene, SceneTool, Subject } from '../scene.ts';
import { schemaOf } from '../schema-of.ts';

setTracingDisabled(true);

/** The OpenAI Agents SDK: its runner, with a scripted model. */
export const openaiAgents: Subject = {
  name: 'openai-agents',
  async play(scene: Scene): Promise<Played> {
    const { agent, runId, approvalWaitMs, costs, subagents, model } = scene;
    const tools = govern(agent, scene.tools.map(toolOf), { runId, approvalWaitMs, costs, subagents });
    let read: AgentInputItem[] = [];
    const calls = scene.calls.map((call, index) =>
      functionCall(call.tool, { ...call.args }, { callId: `call-${index}` }),
    );
    const scripted = new ScriptedModel([
      { output: calls, usage: usageOf(scene), responseId: 'one' },
      modelResponder(({ request }) => {
        read = [request.input].flat() as AgentInputItem[];
        return [assistantMessage('done')];
      }),
    ]);
    const used = scene.governsModel
      ? governModel(agent, scripted, { runId, approvalWaitMs, model: model.name })
      : scripted;
    try {
      await new Runner({ tracingDisabled: true }).run(new Agent({ name: 'scripted', tools, model: used }), 'go');
      return { reads: readsOf(read, scene) };
    } catch (error) {
      return { reads: [], error };
    }
  },
};

function toolOf({ name, args, body }: SceneTool) {
  return tool({
    name,
    description: name,
    strict: true,
    parameters: schemaOf(args),
    // Otherwise the model reads only that something went wrong.
    errorFunction: (_context, error) => String(error),
    execute: (input, _context, details) =>
      body(input as Record<string, unknown>, { signal: details?.signal, operation: currentOperation() }),
  });
}

function usageOf({ model }: Scene): Usage {
  return new Usage({
    requests: 1,
    inputTokens: model.input_tokens,
    outputTokens: model.output_tokens,
    totalTokens: model.input_tokens + model.output_tokens,
    inputTokensDetails: [{ cached_tokens: model.cached_input_tokens }],
  });
}

function readsOf(items: readonly AgentInputItem[], { calls }: Scene): string[] {
  return calls.map((_, index) => {
    const result = items.find((item) => item.type === 'function_call_result' && item.callId === `call-${index}`);
    return result === undefined || !('output' in result) ? '' : JSON.stringify(result.output);
  });
}
