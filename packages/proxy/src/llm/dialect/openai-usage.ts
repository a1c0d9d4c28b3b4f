import type { SeenUsage } from './dialect.ts';
import { objectIn, tokensIn } from './usage-numbers.ts';

interface Names {
  readonly input: string;
  readonly output: string;
  readonly inputDetails: string;
}

const chatNames: Names = { input: 'prompt_tokens', output: 'completion_tokens', inputDetails: 'prompt_tokens_details' };
const responseNames: Names = { input: 'input_tokens', output: 'output_tokens', inputDetails: 'input_tokens_details' };

/** `usage` of a chat completion, of one of its chunks, or of embeddings, which put out nothing. */
export function chatUsageOf(answer: unknown): SeenUsage | undefined {
  return usageBy(chatNames, answer);
}

export function responseUsageOf(answer: unknown): SeenUsage | undefined {
  return usageBy(responseNames, answer);
}

function usageBy(names: Names, answer: unknown): SeenUsage | undefined {
  const usage = objectIn(answer, 'usage');
  const inputTokens = tokensIn(usage, names.input);
  if (inputTokens === undefined) return undefined;
  const cached = tokensIn(objectIn(usage, names.inputDetails), 'cached_tokens') ?? 0;
  return {
    inputTokens,
    outputTokens: tokensIn(usage, names.output) ?? 0,
    cachedInputTokens: Math.min(cached, inputTokens),
    isFinal: true,
  };
}
