import type { Agent } from '../agent.ts';
import type { TokenUsage } from '../completion.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import { standInFor } from './copy-with.ts';
import type { JudgedPart } from './govern-call.ts';
import type { GovernModelOptions, ModelUse } from './model-call.ts';
import { governAnswer, openAnswer, settle, usageFrom } from './model-call.ts';
import { partsOf } from './open-call.ts';

/** The part of a language model of the AI SDK that governance needs. All versions of the interface have it. */
interface AiModel {
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

interface CallOptions {
  readonly [option: string]: unknown;
  readonly prompt?: unknown;
  readonly tools?: unknown;
  readonly responseFormat?: unknown;
  readonly maxOutputTokens?: number | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

interface Streamed {
  readonly stream: ReadableStream<unknown>;
}

/**
 * Governs a language model of the AI SDK, also where it streams: each call is checked first, and settled with the usage that
 * the provider reports. A refused call throws.
 */
export function governModel<Model extends AiModel | string>(
  agent: Agent,
  model: Model,
  options: GovernModelOptions = {},
): Model {
  if (typeof model === 'string') {
    throw new ReeveInvalidRequest('model: must be a model of a provider, not its name: openai("gpt-5") for example');
  }
  const target: AiModel = model;
  const useOf = ({ prompt, tools, responseFormat, maxOutputTokens, abortSignal, ...fixed }: CallOptions): ModelUse => ({
    model: target.modelId,
    prompt: { prompt, tools },
    maxOutputTokens,
    asked: { says: { prompt }, forms: { tools, responseFormat }, fixed },
    signal: abortSignal,
  });
  const doGenerate = (how: CallOptions) =>
    governAnswer(
      agent,
      useOf(how),
      options,
      (signal, masked) => target.doGenerate({ ...how, ...masked, abortSignal: signal } as never),
      (answer) => usageOf(answer),
      said,
    );
  const doStream = async (how: CallOptions) => {
    const call = await openAnswer(
      agent,
      useOf(how),
      options,
      (signal, masked) => target.doStream({ ...how, ...masked, abortSignal: signal } as never) as PromiseLike<Streamed>,
    );
    const parts = partsOf(call, readFrom(call.opened.stream), (part) => settle(call.operation, usageOf(part)));
    return { ...call.opened, stream: streamOf(parts, call.leave) };
  };
  return standInFor(target, { doGenerate, doStream }) as Model;
}

/** What the model said. The rest is about the call. */
const said: JudgedPart<unknown> = {
  of: (answer) => (answer as { readonly content?: unknown }).content,
  put: (answer, content) => ({ ...(answer as object), content, request: undefined, response: undefined }),
};

/** Of a whole answer, or of the part of a stream that has it. Figures are numbers, or objects with a `total`. */
function usageOf(answer: unknown): TokenUsage | undefined {
  const { usage } = answer as { readonly usage?: Readonly<Record<string, unknown>> | undefined };
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  const input = figuresOf(inputTokens);
  return usageFrom(input['total'], figuresOf(outputTokens)['total'], cachedInputTokens ?? input['cacheRead']);
}

function figuresOf(figure: unknown): Readonly<Record<string, unknown>> {
  return typeof figure === 'object' && figure !== null
    ? (figure as Readonly<Record<string, unknown>>)
    : { total: figure };
}

/** The parts of a stream. Unlike its own iterator, this one can be left while a part is awaited. */
function readFrom<Part>(stream: ReadableStream<Part>): AsyncIterable<Part> {
  return {
    [Symbol.asyncIterator]: () => {
      const reader = stream.getReader();
      return {
        next: () => reader.read() as Promise<IteratorResult<Part>>,
        return: async () => {
          await reader.cancel();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** A cancelled stream ends the call. */
function streamOf<Part>(
  parts: AsyncGenerator<Part, void, undefined>,
  leave: () => Promise<void>,
): ReadableStream<Part> {
  return new ReadableStream<Part>({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await leave();
      // Not `return`: what nobody has begun to read would never let go of its source.
      await parts.next().catch(() => {});
    },
  });
}
