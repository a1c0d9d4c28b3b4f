import { Time } from '../../ui/time.tsx';
import type { Budget } from './budget-model.ts';
import { usageOf } from './budget-model.ts';

/** When the cap is reached at the current pace. Empty without a cap. */
export function Forecast({ budget }: { readonly budget: Budget }) {
  if (budget.limit_usd === null) return null;
  if (usageOf(budget).level === 'reached') return <span className="text-danger">reached</span>;
  if (budget.reached_at === null) return <span className="text-muted">not before reset</span>;
  return <Time at={budget.reached_at} />;
}
