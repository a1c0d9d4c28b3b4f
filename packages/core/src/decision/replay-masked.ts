import type { CheckRequest } from '../action/index.ts';
import { userOf } from '../action/index.ts';
import { Evaluation, subjectOf } from '../policy/index.ts';
import type { Asker } from './decide.ts';
import type { Decisions } from './decisions.ts';
import { agentAndAbove } from './judge-delegation.ts';
import type { ReplayAnswer } from './kept-rewrite.ts';
import { mustBeMasked } from './mask-prompt.ts';

/**
 * Says to a replay that may go on or waits that its prompt must be judged, if any rule could mask it: a condition that held
 * at the check may not hold any more, because the run has counted that check. The prompt itself is judged by the moment of
 * the check.
 */
export function replayMasked(
  gov: Pick<Decisions, 'policies'>,
  { agent, links }: Asker,
  request: CheckRequest,
  answer: ReplayAnswer,
): ReplayAnswer & { readonly masksPrompt?: true } {
  const { action, canMaskPrompt } = request;
  if (answer.decision === 'deny' || !gov.policies.hasPromptRules) return answer;
  const evaluation = new Evaluation(subjectOf(action, userOf(request)));
  const agents = agentAndAbove(agent, links);
  if (agents.every(({ record }) => gov.policies.promptRulesFor(record.id, action, evaluation).length === 0))
    return answer;
  return canMaskPrompt ? { ...answer, masksPrompt: true } : { decision: 'deny', reason: mustBeMasked };
}
