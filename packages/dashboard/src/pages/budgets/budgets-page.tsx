import './budgets.css';
import { usePageSearch } from '../../shell/search.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Countdown } from '../../ui/time.tsx';
import { BudgetDrawer } from './budget-drawer.tsx';
import { BudgetList } from './budget-list.tsx';
import { spanNames } from './budget-model.ts';
import type { BudgetOrder } from './budget-order.ts';
import { parseBudgetsSearch } from './budgets-search.ts';
import { PriceNote } from './price-note.tsx';
import { RatesCard } from './rates-card.tsx';
import { useBudgets } from './use-budgets.ts';
import { WeekList } from './week-list.tsx';

const spans = (['day', 'week', 'month'] as const).map((value) => ({ value, label: spanNames[value] }));

/** What is spent, reserved and left: budgets of days and months as a tree, the last seven days agent by agent. */
export function BudgetsPage() {
  const [search, change] = usePageSearch(parseBudgetsSearch);
  const span = search.period ?? 'day';
  const shown = {
    search,
    onOpen: (key: string) => change({ of: key }, { isStep: true }),
    onSort: (sort: BudgetOrder | undefined) => change({ sort }),
    onClear: () => change({ q: undefined, org_id: undefined, team_id: undefined, near: undefined }),
  };
  const { top } = useBudgets(span === 'month' ? 'month' : 'day', [], false);
  return (
    <Page
      title="Budgets"
      note={
        <span className="flex flex-wrap gap-x-3">
          {span === 'week' ? <span className="text-sm">Today included</span> : <Resets at={top.data?.[0]?.resets_at} />}
          <PriceNote />
        </span>
      }
      actions={
        <Segments
          label="Period"
          value={span}
          choices={spans}
          onChange={(next) => change({ period: next === 'day' ? undefined : next })}
        />
      }
    >
      <Loaded query={top} what="The budgets" lines={8}>
        {(rows) =>
          span === 'week' ? (
            <WeekList {...shown} rows={rows} onChange={change} />
          ) : (
            <BudgetList {...shown} rows={rows} period={span} onChange={change} />
          )
        }
      </Loaded>
      <RatesCard orgId={search.org_id} />
      <BudgetDrawer of={search.of} span={span} onClose={() => change({ of: undefined })} />
    </Page>
  );
}

/** All budgets of a period reset at the same moment. */
function Resets({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <span className="text-sm">
      Resets in <Countdown to={at} />
    </span>
  );
}
