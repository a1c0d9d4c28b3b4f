import { currentOperation } from '@reeve/sdk';
import { govern, governModel } from '@reeve/sdk/ai';
import type { ModelMessage, ToolSet } from 'ai';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { Played, Scene, SceneTool, Subject } from '../scene.ts';
import { schemaOf } from '../schema-of.ts';

type Model = MockLanguageModelV4;
type Answer = Awaited<ReturnType<Model['doGenerate']>>;

/** The AI SDK of Vercel: `generateText` with a scripted model. */
export const ai: Subject = {
  name: 'ai',
  async play(scene: Scene): Promise<Played> {
    const { agent, runId, approvalWaitMs, costs, subagents, model } = scene;
    const set: ToolSet = Object.fromEntries(scene.tools.map((each) => [each.name, toolOf(each)]));
    const tools = govern(agent, set, { runId, approvalWaitMs, costs, subagents });
    const scripted = new MockLanguageModelV4({ modelId: model.name, doGenerate: scriptOf(scene) });
    const used = scene.governsModel ? governModel(agent, scripted, { runId, approvalWaitMs }) : scripted;
    try {
      const { steps } = await generateText({
        model: used,
        tools,
        prompt: 'go',
        stopWhen: isStepCount(2),
        maxRetries: 0,
      });
      return {
        reads: readsOf(
          steps.flatMap(({ response }) => response.messages),
          scene,
        ),
      };
    } catch (error) {
      return { reads: [], error };
    }
  },
};

function toolOf({ name, args, body }: SceneTool) {
  return tool({
    description: name,
    inputSchema: jsonSchema<Record<string, unknown>>(schemaOf(args)),
    execute: (input, { abortSignal: signal }) => body(input, { signal, operation: currentOperation() }),
  });
}

function scriptOf({ calls, model }: Scene): () => Promise<Answer> {
  let turn = 0;
  const { input_tokens: total, cached_input_tokens: cacheRead, output_tokens: output } = model;
  return async () => ({
    content:
      turn++ === 0
        ? calls.map(({ tool: toolName, args }, index) => ({
            type: 'tool-call' as const,
            toolCallId: `call-${index}`,
            toolName,
            input: JSON.stringify(args),
          }))
        : [{ type: 'text', text: 'done' }],
    finishReason: { unified: turn === 1 ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
    warnings: [],
  });
}

/** What the second turn of the model was given. */
function readsOf(messages: readonly ModelMessage[], { calls }: Scene): string[] {
  const parts = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return calls.map((_, index) => {
    const part = parts.find((each) => each.type === 'tool-result' && each.toolCallId === `call-${index}`);
    return part === undefined || !('output' in part) ? '' : String((part.output as { value?: unknown }).value);
  });
}
