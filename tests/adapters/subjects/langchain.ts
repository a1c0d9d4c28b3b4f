import { AIMessage, HumanMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { tool } from '@langchain/core/tools';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { currentOperation } from '@reeve/sdk';
import { govern, governModel } from '@reeve/sdk/langchain';
import type { Played, Scene, SceneTool, Subject } from '../scene.ts';
import { schemaOf } from '../schema-of.ts';

/** LangChain without an agent of its own: a loop as small as it can be, on its messages, tools and models. */
export const langchain: Subject = {
  name: 'langchain',
  async play(scene: Scene): Promise<Played> {
    const { agent, approvalWaitMs, costs, subagents, runId } = scene;
    const tools = govern(agent, scene.tools.map(toolOf), { approvalWaitMs, costs, subagents });
    const scripted = new ScriptedChatModel(scene);
    const model = scene.governsModel ? governModel(agent, scripted, { approvalWaitMs }) : scripted;
    const config = runId === undefined ? {} : { configurable: { thread_id: runId } };
    try {
      const messages: BaseMessage[] = [new HumanMessage('go')];
      const answer = await model.invoke(messages, config);
      const calls = (answer as AIMessage).tool_calls ?? [];
      const results = await Promise.all(
        calls.map((call) => {
          const used = tools.find(({ name }) => name === call.name) as StructuredToolInterface;
          return used.invoke({ ...call, type: 'tool_call' }, config) as Promise<BaseMessage>;
        }),
      );
      return { reads: results.map(({ text }) => text) };
    } catch (error) {
      return { reads: [], error };
    }
  },
};

function toolOf({ name, args, body }: SceneTool) {
  return tool(
    async (input: unknown, { signal }: { signal?: AbortSignal }) =>
      body(input as Record<string, unknown>, { signal, operation: currentOperation() }),
    { name, description: name, schema: schemaOf(args) },
  );
}

/** A chat model that asks for the calls of the scene. */
class ScriptedChatModel extends FakeListChatModel {
  readonly model: string;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    super({ responses: ['done'] });
    this.model = scene.model.name;
    this.#scene = scene;
  }

  override async _generate() {
    const { calls, model } = this.#scene;
    const usage_metadata = {
      input_tokens: model.input_tokens,
      output_tokens: model.output_tokens,
      total_tokens: model.input_tokens + model.output_tokens,
      input_token_details: { cache_read: model.cached_input_tokens },
    };
    const tool_calls = calls.map(({ tool: name, args }, index) => ({ name, args, id: `call-${index}` }));
    const message = new AIMessage({ content: '', tool_calls, usage_metadata } as never);
    return { generations: [{ message, text: '' }] };
  }
}
