import type { Operation } from '@reeve/sdk';
import type { SeenUsage } from './dialect/dialect.ts';
import type { Asked } from './model-call.ts';

/** The part of an operation that a call of a model needs. */
export type CallOperation = Pick<Operation, 'state' | 'signal' | 'checkpoint' | 'used' | 'spent' | 'ended' | 'note'>;

/** How a call ended. */
export interface CallEnd {
  readonly outcome: 'succeeded' | 'failed' | 'cancelled';
  readonly usage?: SeenUsage | undefined;
  /** Whether the call cost nothing for certain: it never reached the upstream, or the upstream answered with an error. */
  readonly isFree?: boolean;
  readonly note?: string;
}

/**
 * Says what a call really used. Without a report of the upstream, the estimate counts. If the report breaks off, what
 * was put out is not known, so the maximum counts: otherwise an agent could pay less by going away early.
 */
export function settle(operation: CallOperation, asked: Asked, { outcome, usage, isFree, note }: CallEnd): void {
  operation.ended(outcome);
  if (note !== undefined) operation.note(note);
  if (usage !== undefined) {
    const { isFinal, outputTokens = 0, ...input } = usage;
    operation.used({ ...input, outputTokens: isFinal ? outputTokens : Math.max(outputTokens, asked.maxOutputTokens) });
  } else if (isFree === true) operation.spent(0);
}
