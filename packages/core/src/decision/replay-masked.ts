import type { CheckRequest } from '../action/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { Evaluation, subjectOf } from '../policy/index.ts';
import type { InRun } from '../runs/index.ts';
import { CheckFacts } from './check-facts.ts';
import type { Asker } from './decide.ts';
import type { Decisions } from './decisions.ts';
import { agentsAbove } from './judge-delegation.ts';
import type { ReplayAnswer } from './kept-rewrite.ts';
import { maskPrompt } from './mask-prompt.ts';
import { chargeOf } from './weigh-budgets.ts';

/**
 * Says to a replay that may go on or waits whether rules mask its prompt: by the rules of now, since its prompt is judged by
 * these as well.
 */
export function replayMasked(
  gov: Decisions,
  { agent, links }: Asker,
  request: CheckRequest,
  run: InRun,
  now: EpochMs,
  answer: ReplayAnswer,
): ReplayAnswer & { readonly masksPrompt?: true } {
  if (answer.decision === 'deny' || !gov.policies.hasPromptRules) return answer;
  const cost = chargeOf(gov.policies, request).micros ?? 0;
  const parties = [agent, ...agentsAbove(links)].map((each) => {
    return { agent: each, facts: new CheckFacts(gov, each, request, run, now, cost) };
  });
  const evaluation = new Evaluation(subjectOf(request.action, parties[0]?.facts.user() ?? null));
  const allowed = { effect: 'allow', reason: '', rule: 'default', tier: 'replay' } as const;
  const { strictest, masksPrompt } = maskPrompt(gov.policies, request, parties, allowed, evaluation);
  if (strictest.effect === 'deny') return { decision: 'deny', reason: strictest.reason };
  return masksPrompt === undefined ? answer : { ...answer, masksPrompt };
}
