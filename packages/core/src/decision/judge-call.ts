import type { Evaluation, PolicySet, Verdict } from '../policy/index.ts';
import { strictestOf } from './judge-delegation.ts';
import type { JudgedParty, RewritableCall, VerdictOnRewritten } from './rewrite-call.ts';
import { rewriteCall } from './rewrite-call.ts';

/** What policy says of a call. */
export interface JudgedCall<Request, Party> extends VerdictOnRewritten<Request> {
  /** What the agent's own rules said of the call as it was sent. Its rates count the call. */
  readonly own: Verdict;
  /** The same of each agent above it. */
  readonly above: readonly (Party & { readonly verdict: Verdict })[];
}

/**
 * Judges a call by the rules about its agent and about everybody above it, and once more as rules have rewritten it.
 * Decisions, simulations, cases and backtests all judge by this, so that they agree.
 */
export function judgeCall<Request extends RewritableCall, Party extends JudgedParty>(
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
  return { own, above, ...rewriteCall(set, request, [asking, ...delegators], asSent, evaluation) };
}
