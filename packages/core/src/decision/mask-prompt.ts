import type { CheckRequest } from '../action/index.ts';
import type { Evaluation, JudgedAgent, PolicySet, Verdict } from '../policy/index.ts';

/** What a call must have for its prompt to be masked. */
export type MaskableCall = Pick<CheckRequest, 'action' | 'canMaskPrompt'>;

/** How every such refusal begins, also those that earlier releases have recorded. */
const cannotMask = 'must be masked, which this caller cannot do';

/** Why a caller is refused that would send a model what rules mask, and who can. */
export const mustBeMasked = `${cannotMask}: the model proxy can (reeve llm serve)`;

/** Whether a caller was refused because it could not mask. */
export function couldNotMask(reason: string): boolean {
  return reason.startsWith(cannotMask);
}

/** Whether rules mask the prompt of a call that is allowed or held. A caller that cannot have it masked is refused. */
export function maskPrompt(
  set: PolicySet,
  { canMaskPrompt }: MaskableCall,
  parties: readonly JudgedAgent[],
  verdict: Verdict,
  evaluation: Evaluation,
): { readonly strictest: Verdict; readonly masksPrompt?: true } {
  if (!set.hasPromptRules) return { strictest: verdict };
  const [first] = parties.flatMap(({ agent, facts }) => set.promptMasks(agent.record.id, facts, evaluation));
  if (first === undefined) return { strictest: verdict };
  if (canMaskPrompt) return { strictest: verdict, masksPrompt: true };
  const by = { rule: first.id, tier: first.document.scope.tier };
  return { strictest: { effect: 'deny', reason: mustBeMasked, ...by } };
}
