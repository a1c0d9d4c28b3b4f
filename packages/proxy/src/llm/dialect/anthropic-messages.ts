import { largestTokens } from '../count-tokens.ts';
import { limitIn } from '../json-request.ts';
import { errorBodyOf } from '../refusal.ts';
import { anthropicStream } from './anthropic-stream.ts';
import { anthropicToolMessages } from './anthropic-tool-messages.ts';
import type { Dialect, SeenUsage, StreamReader } from './dialect.ts';
import { objectIn, tokensIn } from './usage-numbers.ts';

type Usage = Readonly<Record<string, unknown>>;

const texts = ['text', 'partial_json', 'thinking'];

/** `POST /v1/messages`. */
export const anthropicMessages: Dialect = {
  kind: 'anthropic',
  maxOutputOf: (request) => limitIn(request, 'max_tokens'),
  choicesOf: () => 1,
  bodyFor: ({ body }) => body,
  texts: { streamed: texts, whole: texts },
  usageOf: (answer) => usageIn(objectIn(answer, 'usage'), true),
  toolMessages: anthropicToolMessages,
  stream: anthropicStream,
  readerFor: () => new MessageReader(),
  errorEvent: (refusal) => `event: error\ndata: ${JSON.stringify(errorBodyOf('anthropic', refusal))}\n\n`,
};

/** `message_start` says what went in, and each `message_delta` all that went in and came out so far. */
class MessageReader implements StreamReader {
  usage: SeenUsage | undefined;
  #start: Usage = {};

  take(data: unknown): boolean {
    const { type } = data as { type?: unknown };
    if (type === 'message_start') {
      this.#start = objectIn(objectIn(data, 'message'), 'usage') ?? {};
      this.usage = usageIn(this.#start, false);
    }
    if (type === 'message_delta') {
      const said = Object.entries(objectIn(data, 'usage') ?? {}).filter(([, value]) => value !== null);
      this.usage = usageIn({ ...this.#start, ...Object.fromEntries(said) }, true) ?? this.usage;
    }
    return false;
  }
}

/** Here `input_tokens` leaves out what was read from the cache and what was written to it. */
function usageIn(usage: Usage | undefined, isFinal: boolean): SeenUsage | undefined {
  const fresh = tokensIn(usage, 'input_tokens');
  const outputTokens = tokensIn(usage, 'output_tokens');
  if (fresh === undefined || outputTokens === undefined) return undefined;
  const read = tokensIn(usage, 'cache_read_input_tokens') ?? 0;
  const written = tokensIn(usage, 'cache_creation_input_tokens') ?? 0;
  const inputTokens = Math.min(largestTokens, fresh + read + written);
  return { inputTokens, outputTokens, cachedInputTokens: read, isFinal };
}
