import type { Governance } from '../governance.ts';
import type { Answer } from './answer.ts';
import { answerOf } from './answer.ts';
import type { CheckRequest } from './check-request.ts';
import { judge } from './judge.ts';

/** Judges one action, and answers once the decision is durable. */
export async function checkAction(gov: Governance, request: CheckRequest): Promise<Answer> {
  const judgement = judge(gov, request);
  await gov.journal.committed();
  return answerOf(judgement, gov.clock.elapsed());
}

/** Judges each action on its own, in order, and answers once all decisions are durable. */
export async function checkActions(gov: Governance, requests: readonly CheckRequest[]): Promise<Answer[]> {
  const judgements = requests.map((request) => judge(gov, request));
  await gov.journal.committed();
  return judgements.map((judgement) => answerOf(judgement, gov.clock.elapsed()));
}
