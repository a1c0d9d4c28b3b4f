import type { Clock, DecisionTally } from '@reeve/core';
import { timestamp } from '@reeve/core';
import type { Handlers } from '../handler.ts';

export function statsHandlers(tally: DecisionTally, clock: Clock): Pick<Handlers, 'decisionStats'> {
  return {
    decisionStats: ({ query: { org_id: orgId, minutes: count } }, { principal }) => {
      const { since, minutes, topDenials } = tally.read(principal, { orgId }, clock.now(), count);
      return {
        since: timestamp(since),
        minutes: minutes.map(({ at, allow, deny, pending }) => ({ at: timestamp(at), allow, deny, pending })),
        top_denials: topDenials.map((denied) => ({
          policy_rule: denied.policyRule,
          reason: denied.reason,
          count: denied.count,
          last_at: timestamp(denied.lastAt),
        })),
      };
    },
  };
}
