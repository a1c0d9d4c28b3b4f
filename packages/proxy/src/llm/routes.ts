import { anthropicMessages } from './dialect/anthropic-messages.ts';
import type { Dialect } from './dialect/dialect.ts';
import { openaiChat } from './dialect/openai-chat.ts';
import { openaiEmbeddings } from './dialect/openai-embeddings.ts';
import { openaiResponses } from './dialect/openai-responses.ts';
import type { ProviderKind } from './refusal.ts';

/** A route that calls a model. One that spends nothing is not checked, but needs an identity all the same. */
export interface CallRoute {
  readonly path: string;
  readonly dialect: Dialect;
  readonly spends: boolean;
}

const calls: readonly CallRoute[] = [
  { path: '/v1/chat/completions', dialect: openaiChat, spends: true },
  { path: '/v1/responses', dialect: openaiResponses, spends: true },
  { path: '/v1/embeddings', dialect: openaiEmbeddings, spends: true },
  { path: '/v1/messages', dialect: anthropicMessages, spends: true },
  { path: '/v1/messages/count_tokens', dialect: anthropicMessages, spends: false },
];

export const modelsPath = '/v1/models';

export function callRouteOf(path: string): CallRoute | undefined {
  return calls.find((route) => route.path === path);
}

/** The provider whose client probably sent a request, so that it understands the refusal. */
export function kindOf(path: string, headers: Readonly<Record<string, unknown>>): ProviderKind {
  return path.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined ? 'anthropic' : 'openai';
}
