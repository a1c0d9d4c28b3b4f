import type { Dialect } from './dialect.ts';
import { openaiChat } from './openai-chat.ts';
import { chatUsageOf } from './openai-usage.ts';

/** `POST /v1/embeddings`. Nothing is put out, and nothing is streamed. */
export const openaiEmbeddings: Dialect = {
  kind: 'openai',
  maxOutputOf: () => 0,
  choicesOf: () => 1,
  bodyFor: ({ body }) => body,
  texts: { streamed: [], whole: [] },
  usageOf: chatUsageOf,
  toolMessages: () => [],
  stream: undefined,
  readerFor: () => ({ take: () => false, usage: undefined }),
  errorEvent: openaiChat.errorEvent,
};
