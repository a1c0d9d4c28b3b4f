import type { Width } from '../access/authority.ts';
import { widest } from '../access/authority.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { exceededUnder } from './exceeded-under.ts';
import type { Ledger } from './ledger.ts';
import type { Micros } from '../kernel/money.ts';
import type { BudgetTier } from './tier.ts';
import { tiersOf } from './tier.ts';

/** Who stands above the tenant that a cap is for. Nobody within it lets a charge past what was imposed on all of it. */
const widthAbove: Readonly<Record<BudgetTier, Width>> = {
  global: 'unbound',
  org: 'unbound',
  team: 'org',
  agent: 'team',
};

/**
 * How wide a credential must be that approves a charge past caps: as wide as whoever stands above the widest of these
 * tenants. A cap that an org has set for itself, below the operator's, may be passed by the org.
 */
export function approverWidth(ledger: Ledger, agent: AgentId, charge: Micros): Width {
  const { policy } = ledger;
  const imposed = { capsOf: policy.imposedCapsOf };
  let width: Width = 'team';
  for (const of of tiersOf(agent)) {
    if (exceededUnder(policy, ledger, [of], charge) === undefined) continue;
    const isOwn = of.tier === 'org' && exceededUnder(imposed, ledger, [of], charge) === undefined;
    width = widest(width, isOwn ? 'org' : widthAbove[of.tier]);
  }
  return width;
}
