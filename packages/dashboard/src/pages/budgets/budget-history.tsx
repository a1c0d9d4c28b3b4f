import { lazy, Suspense, useMemo, useState } from 'react';
import { plural } from '../../api/format.ts';
import { useRoute } from '../../api/use-route.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Money } from '../../ui/money.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Unknown } from '../../ui/unknown.tsx';
import type { Period } from './budget-model.ts';
import type { HistorySlot, HistoryWindow } from './history-model.ts';
import { slotLabel, slotsOf } from './history-model.ts';

const HistoryChart = lazy(async () => ({ default: (await import('./history-chart.tsx')).HistoryChart }));

const counts: Readonly<Record<Period, number>> = { day: 30, month: 12 };
const choices = [
  { value: 'day', label: 'Days' },
  { value: 'month', label: 'Months' },
] as const;

interface BudgetHistoryProps {
  readonly owner: { readonly org_id?: string; readonly team_id?: string; readonly agent_id?: string };
  readonly first: Period;
  readonly name: string;
}

/** Past spend by day or month, with the cap of that time. */
export function BudgetHistory({ owner, first, name }: BudgetHistoryProps) {
  const [period, setPeriod] = useState(first);
  const query = { ...owner, period, count: counts[period] };
  const history = useRoute('budgetHistory', { query }, { keepPrevious: true });
  return (
    <section>
      <div className="mb-2 flex items-center gap-2">
        <h3 className="flex-1 font-semibold">History</h3>
        <Segments label="Steps of the history" value={period} choices={choices} onChange={setPeriod} />
      </div>
      <Loaded query={history} what="The history" lines={5}>
        {({ items }) => <Windows items={items} period={period} name={name} />}
      </Loaded>
    </section>
  );
}

interface WindowsProps {
  readonly items: readonly HistoryWindow[];
  readonly period: Period;
  readonly name: string;
}

function Windows({ items, period, name }: WindowsProps) {
  // Memoised, so that the chart is drawn once per answer.
  const slots = useMemo(() => slotsOf(items, period), [items, period]);
  const gaps = slots.filter(({ window }) => window === undefined).length;
  if (slots.length === 0) return <p className="text-muted">Nothing is on record yet.</p>;
  return (
    <>
      <Suspense fallback={<Skeleton lines={5} label="Loading the chart" />}>
        <HistoryChart slots={slots} period={period} label={`Spent by ${name} in ${plural(slots.length, period)}`} />
      </Suspense>
      {gaps === 0 ? null : <p className="text-sm text-muted">{`Of ${plural(gaps, period)} nothing is on record.`}</p>}
      <details className="mt-2">
        <summary className="min-h-6 w-fit rounded-sm text-accent hover:underline">Show as a table</summary>
        <HistoryTable slots={slots} period={period} />
      </details>
    </>
  );
}

interface HistoryTableProps {
  readonly slots: readonly HistorySlot[];
  readonly period: Period;
}

function HistoryTable({ slots, period }: HistoryTableProps) {
  return (
    <table className="mt-1 w-full text-sm">
      <caption className="sr-only">Spent and cap, newest first</caption>
      <thead>
        <tr className="border-b text-left text-muted">
          <th scope="col" className="py-1 font-medium">
            {period === 'day' ? 'Day' : 'Month'}
          </th>
          <th scope="col" className="py-1 text-right font-medium">
            Spent
          </th>
          <th scope="col" className="py-1 text-right font-medium">
            Cap
          </th>
        </tr>
      </thead>
      <tbody>
        {slots.toReversed().map(({ at, window }) => (
          <tr key={at} className="border-b last:border-b-0">
            <td className="py-1">
              {slotLabel(at, period)}
              {window?.closed === false ? <span className="text-muted"> so far</span> : null}
            </td>
            <td className="py-1 text-right">{window === undefined ? <Unknown /> : <Money usd={window.spent_usd} />}</td>
            <td className="py-1 text-right">
              {window === undefined ? (
                <Unknown />
              ) : window.limit_usd === null ? (
                'No cap'
              ) : (
                <Money usd={window.limit_usd} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
