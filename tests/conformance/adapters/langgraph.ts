import { currentOperation } from '@reeve/sdk';
import { govern, governModel } from '@reeve/sdk/langchain';
import type { Played, Scene, SceneTool, Subject } from '../../adapters/scene.ts';
import { schemaOf } from '../../adapters/schema-of.ts';

type Message = Readonly<Record<string, unknown>>;

/** The part of LangChain's agents that is used here. The repository does not install them. */
export interface LangChainAgents {
  createAgent(options: object): { invoke(input: object, config: object): Promise<{ messages: Message[] }> };
  tool(
    run: (input: Record<string, unknown>, config: { signal?: AbortSignal }) => Promise<string>,
    fields: object,
  ): Tool;
  fakeModel(): FakeModel;
  AIMessage: new (fields: object) => object;
}

interface Tool {
  readonly name: string;
}

interface FakeModel {
  respond(message: object): FakeModel;
  _llmType(): string;
}

/** An agent of LangChain, which runs on LangGraph, with a scripted model. */
export function langGraph(langchain: LangChainAgents): Subject {
  return {
    name: 'langgraph',
    async play(scene: Scene): Promise<Played> {
      const { agent, approvalWaitMs, costs, subagents, runId, model } = scene;
      const own = scene.tools.map((each) => toolOf(langchain, each));
      const tools = govern(agent, own, { approvalWaitMs, costs, subagents });
      const scripted = langchain
        .fakeModel()
        .respond(asking(langchain, scene))
        .respond(new langchain.AIMessage({ content: 'done' }));
      const used = scene.governsModel ? governModel(agent, scripted, { approvalWaitMs, model: model.name }) : scripted;
      const config = runId === undefined ? {} : { configurable: { thread_id: runId } };
      try {
        const { messages } = await langchain
          .createAgent({ model: used, tools })
          .invoke({ messages: [{ role: 'user', content: 'go' }] }, config);
        return { reads: readsOf(messages, scene) };
      } catch (error) {
        return { reads: [], error };
      }
    },
  };
}

function toolOf({ tool }: LangChainAgents, { name, args, body }: SceneTool): Tool {
  return tool((input, { signal }) => body(input, { signal, operation: currentOperation() }), {
    name,
    description: name,
    schema: schemaOf(args),
  });
}

function asking({ AIMessage }: LangChainAgents, { calls, model }: Scene): object {
  return new AIMessage({
    content: '',
    tool_calls: calls.map(({ tool: name, args }, index) => ({ name, args, id: `call-${index}` })),
    usage_metadata: {
      input_tokens: model.input_tokens,
      output_tokens: model.output_tokens,
      total_tokens: model.input_tokens + model.output_tokens,
      input_token_details: { cache_read: model.cached_input_tokens },
    },
  });
}

function readsOf(messages: readonly Message[], { calls }: Scene): string[] {
  return calls.map((_, index) => {
    const result = messages.find(({ tool_call_id: id }) => id === `call-${index}`);
    return JSON.stringify(result?.['content'] ?? '');
  });
}
