import type { CheckRequest } from '../action/index.ts';
import { withArgs } from '../action/index.ts';
import { fitsIn, mostBytesOfRewritten } from '../kernel/index.ts';
import type { Evaluation, PolicySet, Verdict } from '../policy/index.ts';
import { jointly, RewrittenFacts, rewriteArgs, strength } from '../policy/index.ts';
import type { ChangedCall, JudgedParty } from './changed-call.ts';
import { strictestOf } from './judge-delegation.ts';

/** What a call must have to be rewritten. */
export type RewritableCall = Pick<CheckRequest, 'action' | 'args' | 'canRewrite'>;

/** Why a caller is refused that could not pass on what rules make of its arguments. */
export const mustBeRewritten = 'must be rewritten, which this caller cannot do';

/**
 * Rewrites a tool call that is allowed or held, and judges it once more by all rules that deny or ask. What was said of
 * the call as it was sent counts as well: no rewriting makes a call easier.
 */
export function rewriteCall<Request extends RewritableCall>(
  set: PolicySet,
  request: Request,
  parties: readonly JudgedParty[],
  verdict: Verdict,
  evaluation: Evaluation,
): ChangedCall<Request> {
  const made = rewriteArgs(set, parties, evaluation);
  if (made === undefined) return { strictest: verdict, parties };
  if ('effect' in made) return { strictest: made, parties };
  const { args, changes, by } = made;
  const failed = (why: string) => ({ strictest: refusalOf(by, why), parties });
  if (!evaluation.take(request.action.json.length / charactersPerUnit)) return failed('it costs too much');
  const rewritten = { request: withArgs(request, args), changes };
  const { action } = rewritten.request;
  if (!fitsIn(action.json, mostBytesOfRewritten)) return failed('the arguments become too long');
  if (!request.canRewrite) return { strictest: { effect: 'deny', reason: mustBeRewritten, ...by }, rewritten, parties };
  const again = parties.map(({ agent, facts }) => ({ agent, facts: new RewrittenFacts(facts, action, args) }));
  const [own = nothingAgainst, ...above] = again.map(
    ({ agent, facts }) => set.enforceAgain(agent.record.id, action, facts, evaluation) ?? nothingAgainst,
  );
  const agents = again.slice(1).map(({ agent }) => agent);
  const second = strictestOf(
    own,
    agents.map((agent, at) => ({ agent, verdict: above[at] ?? nothingAgainst })),
  );
  return { strictest: both(verdict, second), rewritten, parties: again };
}

/** How much of a text is looked through for a unit of the cost limit. */
const charactersPerUnit = 16;

function refusalOf(by: Pick<Verdict, 'rule' | 'tier'>, why: string): Verdict {
  return { effect: 'deny', reason: `rule ${by.rule} rewrites the arguments, which failed: ${why}`, ...by };
}

const nothingAgainst: Verdict = { effect: 'allow', reason: '', rule: 'default', tier: 'default' };

function both(first: Verdict, second: Verdict): Verdict {
  if (strength[second.effect] > strength[first.effect]) {
    return { ...second, reason: `with its arguments rewritten: ${second.reason}` };
  }
  const asking = [first, second].flatMap((verdict) => verdict.asking ?? []);
  return asking.length < 2 ? first : { ...first, asking: jointly(asking) };
}
