import type { Decisions } from './decisions.ts';
import type { Answer, Judgement } from './answer.ts';
import { answerOf } from './answer.ts';
import type { CheckRequest } from '../action/check-request.ts';
import { judge } from './judge.ts';

/** Judges one action, and answers once the decision is durable. */
export async function checkAction(gov: Decisions, request: CheckRequest): Promise<Answer> {
  const judgement = judge(gov, request);
  await gov.journal.committed();
  return answerOf(judgement, gov.clock.elapsed());
}

/** How long others may have to wait for a stretch of a batch or a stream, in milliseconds. */
export const longestStretch = 2;

/**
 * Judges each action on its own, in order, and answers once all decisions are durable. A batch that takes long lets
 * others have their say in between.
 */
export async function checkActions(gov: Decisions, requests: readonly CheckRequest[]): Promise<Answer[]> {
  const judgements: Judgement[] = [];
  const durable: Promise<void>[] = [];
  let stretch = gov.clock.elapsed();
  for (const request of requests) {
    judgements.push(judge(gov, request));
    if (gov.clock.elapsed() - stretch < longestStretch) continue;
    durable.push(gov.journal.committed());
    // It is waited for at the end; until then its failure is nobody's.
    durable.at(-1)?.catch(() => undefined);
    await gov.journal.nextTurn();
    stretch = gov.clock.elapsed();
  }
  await Promise.all([...durable, gov.journal.committed()]);
  return judgements.map((judgement) => answerOf(judgement, gov.clock.elapsed()));
}
