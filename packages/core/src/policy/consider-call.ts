import type { AgentId } from '../kernel/index.ts';
import type { Facts } from './condition.ts';
import type { PolicySet } from './policy-set.ts';
import type { ConsideredRule, MayRead } from './trail.ts';
import { considerRules } from './trail.ts';

/**
 * The rules considered for a call. If rules have rewritten it, those that deny or ask are considered once more, by
 * `rewritten`; no other is.
 */
export function considerCall(
  set: PolicySet,
  agent: AgentId,
  sent: Facts,
  rewritten: Facts | undefined,
  mayRead?: MayRead,
): ConsideredRule[] {
  const rules = considerRules(set, agent, sent.action, sent, mayRead);
  if (rewritten === undefined) return rules;
  const again = considerRules(set, agent, rewritten.action, rewritten, mayRead);
  return rules.map((rule, at) => {
    const second = again[at];
    if (rule.matched || rule.effect === 'allow' || second?.matched !== true) return rule;
    return { ...second, why: `with its arguments rewritten: ${second.why}` };
  });
}
