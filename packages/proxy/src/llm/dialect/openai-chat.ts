import { lookalikeOf } from '../../json/lookalike.ts';
import type { JsonRequest } from '../json-request.ts';
import { jsonMembers } from '../json-members.ts';
import { limitIn, requireClear } from '../json-request.ts';
import { errorBodyOf } from '../refusal.ts';
import { chatStream } from './chat-stream.ts';
import { chatToolMessages } from './chat-tool-messages.ts';
import type { Dialect, SeenUsage, StreamReader } from './dialect.ts';
import { chatUsageOf } from './openai-usage.ts';
import { objectIn } from './usage-numbers.ts';

const texts = ['content', 'refusal', 'reasoning', 'reasoning_content', 'arguments', 'input'];

/** `POST /v1/chat/completions`. */
export const openaiChat: Dialect = {
  kind: 'openai',
  maxOutputOf: (request) => {
    const limits = ['max_completion_tokens', 'max_tokens'].map((key) => limitIn(request, key));
    const each = limits.filter((limit) => limit !== undefined);
    return each.length === 0 ? undefined : Math.max(...each);
  },
  choicesOf: (request) => limitIn(request, 'n', 1) ?? 1,
  bodyFor: (request) => {
    if (!asksForUsage(request)) return withUsage(request);
    requireClearOptions(request);
    return request.body;
  },
  texts: { streamed: texts, whole: texts },
  usageOf: chatUsageOf,
  toolMessages: chatToolMessages,
  stream: chatStream,
  readerFor: (request) => new ChatReader(!asksForUsage(request)),
  errorEvent: (refusal) => `data: ${JSON.stringify(errorBodyOf('openai', refusal))}\n\n`,
};

/** Whether the client itself wants the chunk with the usage, or there are no chunks. */
function asksForUsage({ value }: JsonRequest): boolean {
  if (value['stream'] !== true) return true;
  const options = value['stream_options'] ?? {};
  // Anything else than an object is the upstream's to refuse.
  if (typeof options !== 'object' || Array.isArray(options)) return true;
  return objectIn(value, 'stream_options')?.['include_usage'] === true;
}

const judgedOptions = new Set(['include_usage']);

/** Who asks for the usage itself must do so in a way that every upstream understands. */
function requireClearOptions({ body, value, places }: JsonRequest): void {
  const place = places.members.find(({ key }) => key === 'stream_options');
  if (place === undefined || objectIn(value, 'stream_options') === undefined) return;
  requireClear(jsonMembers(body.subarray(place.from, place.to)), judgedOptions, 'stream_options');
}

/** The body with `include_usage`. Every other byte stays. */
function withUsage({ body, value, places }: JsonRequest): Buffer {
  const place = places.members.find(({ key }) => key === 'stream_options');
  if (place === undefined) {
    return Buffer.concat([
      body.subarray(0, places.end),
      Buffer.from(',"stream_options":{"include_usage":true}'),
      body.subarray(places.end),
    ]);
  }
  const others = Object.entries(objectIn(value, 'stream_options') ?? {}).filter(
    ([key]) => lookalikeOf([key], judgedOptions) === undefined,
  );
  const options = { ...Object.fromEntries(others), include_usage: true };
  const text = Buffer.from(JSON.stringify(options));
  return Buffer.concat([body.subarray(0, place.from), text, body.subarray(place.to)]);
}

class ChatReader implements StreamReader {
  usage: SeenUsage | undefined;
  readonly #dropsUsage: boolean;

  constructor(dropsUsage: boolean) {
    this.#dropsUsage = dropsUsage;
  }

  get wantsUsage(): boolean {
    return !this.#dropsUsage;
  }

  take(data: unknown): boolean {
    const usage = chatUsageOf(data);
    if (usage === undefined) return false;
    this.usage = usage;
    const choices = (data as { choices?: unknown }).choices;
    return this.#dropsUsage && Array.isArray(choices) && choices.length === 0;
  }
}
