import { anthropicMessages } from './anthropic-messages.ts';
import type { Dialect } from './dialect.ts';

/** `POST /v1/messages/count_tokens`. The provider reads the prompt, puts nothing out, and does not charge for it. */
export const anthropicCountTokens: Dialect = {
  kind: 'anthropic',
  isFree: true,
  maxOutputOf: () => 0,
  choicesOf: () => 1,
  bodyFor: ({ body }) => body,
  texts: anthropicMessages.texts,
  // An upstream that takes the path for another one, and charges, says so.
  usageOf: anthropicMessages.usageOf,
  toolMessages: anthropicMessages.toolMessages,
  stream: undefined,
  readerFor: anthropicMessages.readerFor,
  errorEvent: anthropicMessages.errorEvent,
};
