import type { AgentId, Micros } from '../kernel/index.ts';
import type { Budgets } from './budgets.ts';

/**
 * A charge that came before this release must not rest on it, if another gateway charges the same caps first. So the
 * release counts only once it is durable.
 */
export function noteReleased(
  { ledger, journal }: Pick<Budgets, 'ledger' | 'journal'>,
  agent: AgentId,
  amount: Micros,
): void {
  if (amount <= 0 || !journal.isShared) return;
  const settle = ledger.released.note(agent, amount);
  journal.onFailure(settle);
  journal.onCommitted(settle);
}
