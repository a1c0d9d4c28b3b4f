import { anthropicCountTokens } from './dialect/anthropic-count-tokens.ts';
import { anthropicMessages } from './dialect/anthropic-messages.ts';
import type { Dialect } from './dialect/dialect.ts';
import { openaiChat } from './dialect/openai-chat.ts';
import { openaiEmbeddings } from './dialect/openai-embeddings.ts';
import { openaiResponses } from './dialect/openai-responses.ts';
import type { ProviderKind } from './refusal.ts';

/** A route that calls a model. Each is checked, also one that costs nothing: the prompt goes to the provider. */
export interface CallRoute {
  readonly path: string;
  readonly dialect: Dialect;
}

const calls: readonly CallRoute[] = [
  { path: '/v1/chat/completions', dialect: openaiChat },
  { path: '/v1/responses', dialect: openaiResponses },
  { path: '/v1/embeddings', dialect: openaiEmbeddings },
  { path: '/v1/messages', dialect: anthropicMessages },
  { path: '/v1/messages/count_tokens', dialect: anthropicCountTokens },
];

export const modelsPath = '/v1/models';

export function callRouteOf(path: string): CallRoute | undefined {
  return calls.find((route) => route.path === path);
}

/** The provider whose client probably sent a request, so that it understands the refusal. */
export function kindOf(path: string, headers: Readonly<Record<string, unknown>>): ProviderKind {
  return path.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined ? 'anthropic' : 'openai';
}
