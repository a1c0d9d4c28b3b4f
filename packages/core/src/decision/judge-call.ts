import type { Evaluation, PolicySet, Verdict } from '../policy/index.ts';
import type { ChangeableCall } from './change-call.ts';
import { changeCall } from './change-call.ts';
import type { ChangedCall, JudgedParty } from './changed-call.ts';
import { strictestOf } from './judge-delegation.ts';

/** What policy says of a call. */
export interface JudgedCall<Request, Party> extends ChangedCall<Request> {
  /** What the agent's own rules said of the call as it was sent. Its rates count the call. */
  readonly own: Verdict;
  /** The same of each agent above it. */
  readonly above: readonly (Party & { readonly verdict: Verdict })[];
}

/**
 * Judges a call by the rules about its agent and about everybody above it, and once more as rules have changed it.
 * Decisions, simulations, cases and backtests all judge by this, so that they agree.
 */
export function judgeCall<Request extends ChangeableCall, Party extends JudgedParty>(
  set: PolicySet,
  request: Request,
  asking: JudgedParty,
  delegators: readonly Party[],
  evaluation: Evaluation,
): JudgedCall<Request, Party> {
  const verdictFor = ({ agent, facts }: JudgedParty) => set.enforce(agent.record.id, request.action, facts, evaluation);
  const own = verdictFor(asking);
  const above = delegators.map((party) => ({ ...party, verdict: verdictFor(party) }));
  const asSent = above.length === 0 ? own : strictestOf(own, above);
  return { own, above, ...changeCall(set, request, [asking, ...delegators], asSent, evaluation) };
}
