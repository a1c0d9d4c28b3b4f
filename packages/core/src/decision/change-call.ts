import type { Evaluation, PolicySet, Verdict } from '../policy/index.ts';
import type { ChangedCall, JudgedParty } from './changed-call.ts';
import type { MaskableCall } from './mask-prompt.ts';
import { maskPrompt } from './mask-prompt.ts';
import type { RewritableCall } from './rewrite-call.ts';
import { rewriteCall } from './rewrite-call.ts';

/** What a call must have for rules to change it. */
export type ChangeableCall = RewritableCall & MaskableCall;

/** What rules change of a call that is allowed or held: the arguments of a tool, or the prompt of a model. */
export function changeCall<Request extends ChangeableCall>(
  set: PolicySet,
  request: Request,
  parties: readonly JudgedParty[],
  verdict: Verdict,
  evaluation: Evaluation,
): ChangedCall<Request> {
  if (verdict.effect === 'deny') return { strictest: verdict, parties };
  if (request.action.type === 'tool_call') return rewriteCall(set, request, parties, verdict, evaluation);
  return { ...maskPrompt(set, request, parties, verdict, evaluation), parties };
}
