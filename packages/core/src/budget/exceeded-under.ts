import type { AgentId } from '../tenancy/agent-id.ts';
import type { BudgetPolicy } from './budget-policy.ts';
import type { Exceeded, Ledger } from './ledger.ts';
import type { Micros } from './money.ts';
import { periods } from './period.ts';
import { tiersOf } from './tier.ts';

/** The first cap of a policy, in force or not, that a charge would pass, in the order of enforcement; books are only read. */
export function exceededUnder(
  policy: BudgetPolicy,
  ledger: Pick<Ledger, 'read'>,
  agent: AgentId,
  cost: Micros,
): Exceeded | undefined {
  if (cost === 0) return undefined;
  for (const of of tiersOf(agent)) {
    const caps = policy.capsOf(of);
    const { spent, reserved } = ledger.read(of);
    for (const period of periods) {
      const limitMicros = caps[period];
      const totalMicros = spent[period] + reserved;
      if (limitMicros !== null && totalMicros + cost > limitMicros) return { of, period, limitMicros, totalMicros };
    }
  }
  return undefined;
}
