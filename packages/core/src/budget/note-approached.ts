import { canonicalJson, draftOf, system, noLineage } from '../audit/index.ts';
import type { Budgets } from './budgets.ts';
import type { Lineage } from '../audit/index.ts';
import type { Approached } from './cap-rule.ts';
import { totalJson } from '../kernel/index.ts';

/**
 * Reports in the log and to live views that caps are nearly used up. Entries about the global cap belong to no tenant.
 */
export function noteApproached(gov: Budgets, lineage: Lineage, approached: readonly Approached[]): void {
  for (const { of, period, percent, limitMicros, totalMicros } of approached) {
    const at = gov.clock.now();
    const day = gov.ledger.bookedTo;
    gov.journal.record(
      draftOf({
        at,
        eventType: 'BudgetLimitApproached',
        lineage: of.tier === 'global' ? noLineage : lineage,
        actor: system,
        payload: canonicalJson({
          day,
          limit_micros: limitMicros,
          percent,
          period,
          team_id: of.teamId,
          tier: of.tier,
          tier_agent_id: of.agentId,
          total_micros: totalJson(totalMicros),
        }),
      }),
    );
    gov.journal.apply({
      type: 'budget',
      at,
      of,
      change: 'approached',
      period,
      day,
      percent,
      limitMicros,
      totalMicros,
    });
  }
}
