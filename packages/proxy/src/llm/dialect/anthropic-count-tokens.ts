import { anthropicMessages } from './anthropic-messages.ts';
import type { Dialect } from './dialect.ts';

/** `POST /v1/messages/count_tokens`. The upstream reads the prompt, puts nothing out, and does not charge for it. */
export const anthropicCountTokens: Dialect = {
  kind: 'anthropic',
  isFree: true,
  maxOutputOf: () => 0,
  choicesOf: () => 1,
  bodyFor: ({ body }) => body,
  usageOf: () => undefined,
  readerFor: () => ({ take: () => false, usage: undefined }),
  errorEvent: anthropicMessages.errorEvent,
};
