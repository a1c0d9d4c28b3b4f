import type { Agent } from '../agent.ts';
import type { TokenUsage } from '../completion.ts';
import { copyWith } from './copy-with.ts';
import type { JudgedPart } from './govern-call.ts';
import { messagesWith, spokenIn } from './langchain-messages.ts';
import { messageWith } from './langchain-result.ts';
import type { GovernModelOptions, MaskedMembers, ModelUse } from './model-call.ts';
import { governAnswer, openAnswer, settle, usageFrom } from './model-call.ts';
import { partsOf } from './open-call.ts';

/** The part of a chat model of LangChain that governance needs. */
interface ChatModel {
  _llmType(): string;
}

interface CallOptions {
  readonly [option: string]: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly tools?: unknown;
  readonly functions?: unknown;
  readonly response_format?: unknown;
}

interface Hidden {
  readonly model?: unknown;
  readonly modelName?: unknown;
  readonly maxTokens?: unknown;
  readonly bindTools?: (...args: unknown[]) => unknown;
  readonly _generate: (messages: unknown, options: CallOptions, manager?: unknown) => Promise<ChatResult>;
}

type Stream = (messages: unknown, options: CallOptions, manager?: unknown) => AsyncIterable<unknown>;

interface ChatResult {
  readonly generations?: readonly unknown[] | undefined;
}

type Figures = Readonly<Record<string, unknown>>;

const governed = new WeakSet<object>();

/** What a graph hands to its nodes, and they to their models, which send none of it to a provider. */
const ofGraphs: ReadonlySet<string> = new Set(['context', 'control', 'executionInfo', 'serverInfo', 'store']);

/** By which a chat model streams. The base class has a default for each, which stands for none. */
const streams = ['_streamResponseChunks', '_streamChatModelEvents'] as const;

/**
 * Governs a chat model of LangChain, also where it streams: each call is checked first, and settled with the usage of its
 * answer. A refused call throws.
 */
export function governModel<Model extends ChatModel>(
  agent: Agent,
  model: Model,
  options: GovernModelOptions = {},
): Model {
  const hidden = model as unknown as Hidden;
  const { model: id, modelName: name = id, maxTokens } = hidden;
  const useOf = (
    messages: unknown,
    { signal, tools, functions, response_format, ...others }: CallOptions,
  ): ModelUse => {
    const spoken = spokenIn(messages);
    return {
      model: typeof name === 'string' ? name : model._llmType(),
      prompt: { messages, tools },
      maxOutputTokens: typeof maxTokens === 'number' && maxTokens > 0 ? maxTokens : undefined,
      asked: {
        says: { messages: spoken },
        forms: { tools, functions, response_format },
        fixed: Object.fromEntries(Object.entries(others).filter(([name]) => !ofGraphs.has(name))),
        put: ({ messages: left }) => ({ messages: messagesWith(messages, spoken, left) }),
      },
      signal,
    };
  };
  const _generate: Hidden['_generate'] = (messages, how, manager) =>
    governAnswer(
      agent,
      useOf(messages, how),
      options,
      (signal, masked) => hidden._generate.call(model, ...sent(messages, how, masked, signal), manager),
      ({ generations = [] }) => generations.reduce<TokenUsage | undefined>((sum, each) => added(sum, each), undefined),
      said,
    );
  const governStream = (inner: Stream): Stream =>
    async function* streamed(messages, how, manager) {
      const call = await openAnswer(agent, useOf(messages, how), options, (signal, masked) => ({
        parts: inner.call(model, ...sent(messages, how, masked, signal), manager),
      }));
      let sum: TokenUsage | undefined;
      yield* partsOf(call, call.opened.parts, (part) => {
        sum = added(sum, part);
        settle(call.operation, sum);
      });
    };
  const own = streams.flatMap((method) => {
    const inner = ownMethod(model, method);
    return inner === undefined ? [] : [[method, governStream(inner as Stream)] as const];
  });
  const bindTools = (...args: unknown[]) => governBound(agent, hidden.bindTools?.apply(copy, args), options);
  const copy: Model = copyWith(model, {
    _generate,
    ...Object.fromEntries(own),
    ...(hidden.bindTools === undefined ? {} : { bindTools }),
  });
  governed.add(copy);
  return copy;
}

/** What the provider gets: the call as it was made, or what rules have left of it. */
function sent(messages: unknown, how: CallOptions, masked: MaskedMembers, signal: AbortSignal): [unknown, CallOptions] {
  const { messages: asked = messages, ...forms } = masked;
  return [asked, { ...how, ...forms, signal }];
}

/** What the model said, in each of its answers. */
const said: JudgedPart<ChatResult> = {
  of: ({ generations = [] }) => generations.map((each) => spokenOf(each)),
  put: ({ generations = [] }, spoken) => ({
    generations: generations.map((each, at) => {
      const { message } = each as Generation;
      const given = (spoken as readonly Spoken[])[at];
      const text = typeof given?.content === 'string' ? given.content : '';
      return { text, message: messageWith(message, { ...given, usage_metadata: message['usage_metadata'] }) };
    }),
  }),
};

interface Spoken {
  readonly content: unknown;
  readonly tool_calls: unknown;
}

interface Generation {
  readonly message: Figures;
}

function spokenOf(generation: unknown): Spoken {
  const { content, tool_calls = [] } = (generation as Generation).message;
  return { content, tool_calls };
}

/** A model with its tools is another object. Where it holds another model than this one, that is governed, too. */
function governBound(agent: Agent, given: unknown, options: GovernModelOptions): unknown {
  if (typeof given !== 'object' || given === null || governed.has(given)) return given;
  if ('_generate' in given && '_llmType' in given) return governModel(agent, given as ChatModel, options);
  if (!('bound' in given)) return given;
  const bound = governBound(agent, given.bound, options);
  return bound === given.bound ? given : copyWith(given, { bound });
}

/** The method, unless it is the default of the base class, which is the last one to define it. */
function ownMethod(model: object, method: string): unknown {
  const found = (model as Readonly<Record<string, unknown>>)[method];
  let last: unknown;
  for (let level: unknown = model; typeof level === 'object' && level !== null; level = Object.getPrototypeOf(level)) {
    if (Object.hasOwn(level, method)) last = (level as Readonly<Record<string, unknown>>)[method];
  }
  return found === last ? undefined : found;
}

/** Chunks report their usage in parts that add up. */
function added(sum: TokenUsage | undefined, part: unknown): TokenUsage | undefined {
  const usage = usageOf(part);
  if (usage === undefined) return sum;
  const plus = (one = 0, other = 0) => one + other;
  return {
    inputTokens: plus(sum?.inputTokens, usage.inputTokens),
    outputTokens: plus(sum?.outputTokens, usage.outputTokens),
    cachedInputTokens: plus(sum?.cachedInputTokens, usage.cachedInputTokens),
  };
}

/** Of a generation, a chunk, or the last event of a stream. */
function usageOf(part: unknown): TokenUsage | undefined {
  const { message, usage = message?.usage_metadata } = part as {
    readonly message?: { readonly usage_metadata?: Figures };
    readonly usage?: Figures;
  };
  if (usage === undefined || usage === null) return undefined;
  const details = usage['input_token_details'] as Figures | undefined;
  return usageFrom(usage['input_tokens'], usage['output_tokens'], details?.['cache_read']);
}
