import { useRoute } from '../../api/use-route.ts';
import { Card } from '../../ui/card.tsx';
import { CardLink } from './card-link.tsx';
import { classes } from '../../ui/classes.ts';
import { Money } from '../../ui/money.tsx';
import type { Budget } from './budgets-near.ts';
import { nearCap } from './budgets-near.ts';
import { Loaded } from '../../ui/loaded.tsx';

const nearPercent = 80;
const shown = 6;

/** Caps that are at least 80 percent spent or reserved. */
export function BudgetsCard() {
  const query = { min_percent: nearPercent, per_page: 200 };
  const budgets = useRoute('listBudgets', { query }, { refetchInterval: 30_000 });
  return (
    <Card title="Budgets near their cap" actions={<CardLink to="/budgets">All budgets</CardLink>} isFlush>
      <Loaded query={budgets} what="The budgets">
        {({ items, total }) => {
          const near = nearCap(items, nearPercent);
          if (near.length === 0) return <p className="p-4 text-muted">No budget is at {nearPercent} % of its cap.</p>;
          return (
            <>
              <ul>
                {near.slice(0, shown).map(({ budget, percent }) => (
                  <li
                    key={`${budget.tier} ${nameOf(budget)} ${budget.period}`}
                    className="flex items-center justify-between gap-3 border-t px-4 py-2 first:border-t-0"
                  >
                    <span className="min-w-0">
                      <span className="block font-medium break-all">{nameOf(budget)}</span>
                      <span className="block text-sm text-muted">
                        {budget.tier}, a {budget.period}: of <Money usd={budget.limit_usd} />
                      </span>
                    </span>
                    <span className={classes('font-semibold', percent >= 95 ? 'text-danger' : 'text-warn')}>
                      {percent} %
                    </span>
                  </li>
                ))}
              </ul>
              {total > shown ? <p className="border-t px-4 py-2 text-sm text-muted">and {total - shown} more</p> : null}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function nameOf({ tier, org_id: org, team_id: team, agent_id: agent }: Budget): string {
  if (tier === 'global') return 'everybody';
  return [org ?? '-', team, agent].filter((part) => part !== null).join('/');
}
