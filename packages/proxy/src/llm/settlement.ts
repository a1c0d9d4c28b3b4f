import type { Answer, Operation } from '@reeve/sdk';
import { largestTokens } from './count-tokens.ts';
import type { SeenUsage } from './dialect/dialect.ts';
import type { RequestedUsage, Passed } from './model-call.ts';

type OperationPart =
  | 'state'
  | 'signal'
  | 'checkpoint'
  | 'checkResult'
  | 'checkPrompt'
  | 'checkStreamed'
  | 'used'
  | 'spent'
  | 'ended'
  | 'note';

/** The part of an operation that a call of a model needs. */
export interface CallOperation extends Pick<Operation, OperationPart> {
  readonly answer: Pick<Answer, 'judgeResult' | 'judgePrompt'>;
}

/** How a call ended. */
export interface CallEnd {
  readonly outcome: 'succeeded' | 'failed' | 'cancelled';
  readonly usage?: SeenUsage | undefined;
  /** Whether the call cost nothing for certain: it never reached the upstream, or the upstream answered with an error. */
  readonly isFree?: boolean;
  readonly note?: string;
}

/** Few texts have fewer bytes for each token. */
const bytesPerToken = 4;

/**
 * Says what a call really used. Without a final report of the upstream, what was put out is not known, so the maximum
 * counts, or what the text that passed must have taken, if that is more: otherwise an agent could pay less by going away
 * early.
 */
export function settle(
  operation: CallOperation,
  asked: RequestedUsage,
  { textBytes }: Pick<Passed, 'textBytes'>,
  { outcome, usage, isFree, note }: CallEnd,
): void {
  operation.ended(outcome);
  if (note !== undefined) operation.note(note);
  const { isFinal = false, outputTokens = 0, ...input } = usage ?? { inputTokens: asked.promptTokens };
  const passed = Math.min(largestTokens, Math.ceil(textBytes / bytesPerToken));
  const most = Math.max(outputTokens, asked.maxOutputTokens, passed);
  if (usage !== undefined) operation.used({ ...input, outputTokens: isFinal ? outputTokens : most });
  else if (isFree === true) operation.spent(0);
  // Otherwise the estimate stands.
  else if (passed > asked.maxOutputTokens) operation.used({ ...input, outputTokens: most });
}
