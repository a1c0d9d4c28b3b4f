import type { Agent } from '../agent.ts';
import type { TokenUsage } from '../completion.ts';
import { standInFor } from './copy-with.ts';
import type { JudgedPart } from './govern-call.ts';
import type { GovernModelOptions, ModelUse } from './model-call.ts';
import { governAnswer, openAnswer, settle, usageFrom } from './model-call.ts';
import { partsOf } from './open-call.ts';

/** The part of a model of the OpenAI Agents SDK that governance needs. */
interface AgentsModel {
  getResponse(request: never): Promise<unknown>;
  getStreamedResponse(request: never): AsyncIterable<unknown>;
}

/** Gives models by their name. */
interface AgentsModelProvider {
  getModel(name?: string): unknown;
}

interface Request {
  readonly [member: string]: unknown;
  readonly input?: unknown;
  readonly systemInstructions?: unknown;
  readonly tools?: unknown;
  readonly handoffs?: unknown;
  readonly outputType?: unknown;
  readonly prompt?: unknown;
  readonly modelSettings?: { readonly maxTokens?: number | undefined } | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Figures = Readonly<Record<string, unknown>>;

/** The name of a model that nobody has named. */
const unnamed = 'default';

/** What of a request the runner and the tracers keep to themselves. */
const ofRunner: ReadonlySet<string> = new Set(['tracing', '_internal']);

/**
 * Governs a model of the OpenAI Agents SDK, or a provider of models: each call is checked first, also where it streams, and
 * settled with the usage of its answer. A model does not tell its name: give it as `model`. A refused call throws.
 */
export function governModel<Model extends AgentsModel | AgentsModelProvider>(
  agent: Agent,
  model: Model,
  options: GovernModelOptions = {},
): Model {
  if (!isProvider(model)) return governOne(agent, model, unnamed, options) as unknown as Model;
  const getModel = (name?: string) => {
    const found = model.getModel(name);
    const governed = (each: unknown) => governOne(agent, each as AgentsModel, name ?? unnamed, options);
    return found instanceof Promise ? found.then(governed) : governed(found);
  };
  return standInFor(model, { getModel });
}

function governOne(agent: Agent, model: AgentsModel, name: string, options: GovernModelOptions): AgentsModel {
  const useOf = (request: Request): ModelUse => {
    const { input, systemInstructions, prompt: template, tools, handoffs, outputType, signal, ...others } = request;
    const { modelSettings } = others;
    const prompt = { input, systemInstructions, tools };
    const says = { input, systemInstructions, prompt: template };
    const fixed = Object.fromEntries(Object.entries(others).filter(([member]) => !ofRunner.has(member)));
    const asked = { says, forms: { tools, handoffs, outputType }, fixed };
    return { asked, model: name, prompt, maxOutputTokens: modelSettings?.maxTokens, signal };
  };
  const getResponse = (request: Request) =>
    governAnswer(
      agent,
      useOf(request),
      options,
      (signal, masked) => model.getResponse({ ...request, ...masked, signal } as never),
      (answer) => usageOf((answer as { usage?: Figures }).usage),
      said,
    );
  async function* getStreamedResponse(request: Request) {
    const call = await openAnswer(agent, useOf(request), options, (signal, masked) => ({
      events: model.getStreamedResponse({ ...request, ...masked, signal } as never),
    }));
    yield* partsOf(call, call.opened.events, (event) => {
      const { response } = event as { response?: { usage?: Figures } };
      settle(call.operation, usageOf(response?.usage));
    });
  }
  return standInFor(model, { getResponse, getStreamedResponse });
}

/** What the model said. The rest is about the call. */
const said: JudgedPart<unknown> = {
  of: (answer) => (answer as { readonly output?: unknown }).output,
  put: (answer, output) => ({ ...(answer as object), output, providerData: undefined }),
};

function usageOf(usage: Figures | undefined): TokenUsage | undefined {
  if (usage === undefined) return undefined;
  const details = [usage['inputTokensDetails'] ?? []].flat() as unknown as readonly Figures[];
  const cached = details.reduce((sum, each) => sum + Number(each['cached_tokens'] ?? 0), 0);
  return usageFrom(usage['inputTokens'], usage['outputTokens'], cached);
}

function isProvider(model: object): model is AgentsModelProvider {
  return 'getModel' in model && typeof model.getModel === 'function';
}
