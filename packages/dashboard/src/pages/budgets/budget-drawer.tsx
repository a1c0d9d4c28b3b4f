import { Link } from '@tanstack/react-router';
import { microsToUsd, usdToMicros } from '../../api/format.ts';
import { useRoute } from '../../api/use-route.ts';
import { buttonClasses } from '../../ui/button.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Money } from '../../ui/money.tsx';
import { Time } from '../../ui/time.tsx';
import { BudgetHistory } from './budget-history.tsx';
import type { Budget, Owner, Span } from './budget-model.ts';
import { budgetKey, budgetName, parseBudgetKey, spanNames, tierNames } from './budget-model.ts';
import { DearestRuns } from './dearest-runs.tsx';
import { Forecast } from './forecast.tsx';
import { ownerQuery } from './load-budgets.ts';
import { LevelBadge, Percent, UsageBar } from './usage-bar.tsx';
import { spanStart } from './week-model.ts';

interface BudgetDrawerProps {
  /** The key of the budget. Undefined while the drawer is closed. */
  readonly of: string | undefined;
  readonly span: Span;
  readonly onClose: () => void;
}

/** Both periods of one budget, and its history. */
export function BudgetDrawer({ of, span, onClose }: BudgetDrawerProps) {
  const owner = of === undefined ? undefined : parseBudgetKey(of);
  return (
    <Drawer isOpen={of !== undefined} onClose={onClose} title={owner === undefined ? 'Budget' : titleOf(owner)}>
      {owner === undefined ? <p>There is no budget “{of}”.</p> : <Details key={of} owner={owner} span={span} />}
    </Drawer>
  );
}

function titleOf(owner: Owner): string {
  return owner.tier === 'global'
    ? 'Budget of the whole gateway'
    : `Budget of ${tierNames[owner.tier].toLowerCase()} ${budgetName(owner)}`;
}

function Details({ owner, span }: { readonly owner: Owner; readonly span: Span }) {
  const budgets = useRoute('listBudgets', { query: { tier: owner.tier, ...ownerQuery(owner) } });
  return (
    <Loaded query={budgets} what="The budget" lines={8}>
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState icon="budgets" title="There is no such budget">
            It belongs to agents that have left, or to another tenant.
          </EmptyState>
        ) : (
          <div className="space-y-5">
            {owner.tier === 'global' || owner.tier === 'org' ? null : (
              <p className="break-all text-muted">{budgetKey(owner)}</p>
            )}
            {items.toReversed().map((budget) => (
              <PeriodCard key={budget.period} budget={budget} name={budgetName(owner)} />
            ))}
            {owner.tier === 'agent' ? <Runs owner={owner} span={span} budgets={items} /> : null}
            <BudgetHistory
              owner={ownerQuery(owner)}
              first={span === 'month' ? 'month' : 'day'}
              name={budgetName(owner)}
            />
            <Links owner={owner} />
          </div>
        )
      }
    </Loaded>
  );
}

interface RunsProps {
  readonly owner: Owner;
  readonly span: Span;
  readonly budgets: readonly Budget[];
}

function Runs({ owner, span, budgets }: RunsProps) {
  const since = spanStart(span, budgets);
  return since === undefined ? null : <DearestRuns owner={owner} span={span} since={since} />;
}

function PeriodCard({ budget, name }: { readonly budget: Budget; readonly name: string }) {
  const left = leftOf(budget);
  return (
    <section className="rounded-lg border p-3">
      <div className="mb-2 flex items-center gap-2">
        <h3 className="flex-1 font-semibold">{spanNames[budget.period]}</h3>
        <LevelBadge budget={budget} />
        <Percent budget={budget} />
      </div>
      {budget.limit_usd === null ? null : (
        <div className="flex">
          <UsageBar budget={budget} name={`${name}, ${spanNames[budget.period].toLowerCase()}`} />
        </div>
      )}
      <Facts look="grid" className="mt-3">
        <Fact name="Spent">
          <Money usd={budget.spent_usd} />
        </Fact>
        <Fact name="Reserved">
          <Money usd={budget.reserved_usd} />
        </Fact>
        <Fact name="Cap">{budget.limit_usd === null ? 'No cap' : <Money usd={budget.limit_usd} />}</Fact>
        {left === undefined ? null : (
          <Fact name="Left">
            <Money usd={left} />
          </Fact>
        )}
        <Fact name="Resets" className="max-sm:col-span-2">
          <Time at={budget.resets_at} form="full" />
        </Fact>
        {budget.limit_usd === null ? null : (
          <Fact name="Cap reached">
            <Forecast budget={budget} />
          </Fact>
        )}
      </Facts>
    </section>
  );
}

function leftOf({ limit_usd, spent_usd, reserved_usd }: Budget): string | undefined {
  const limit = limit_usd === null ? undefined : usdToMicros(limit_usd);
  if (limit === undefined) return undefined;
  const left = limit - (usdToMicros(spent_usd) ?? 0n) - (usdToMicros(reserved_usd) ?? 0n);
  return microsToUsd(left > 0n ? left : 0n);
}

function Links({ owner }: { readonly owner: Owner }) {
  const { tier, org_id, team_id, agent_id } = owner;
  const ids = {
    ...(org_id === null ? {} : { org_id }),
    ...(team_id === null ? {} : { team_id }),
    ...(agent_id === null ? {} : { agent_id }),
  };
  const look = buttonClasses('plain', 'small');
  return (
    <div className="flex flex-wrap gap-2">
      <Link to="/audit" search={{ ...ids, event_type: 'BudgetLimitExceeded' }} className={look}>
        Refused charges
      </Link>
      <Link to="/audit" search={{ ...ids, event_type: 'BudgetLimitApproached' }} className={look}>
        Warnings
      </Link>
      <Link to="/audit" search={{ ...ids, event_type: 'BudgetCorrected' }} className={look}>
        Corrections
      </Link>
      {tier === 'agent' ? (
        <Link to="/topology" search={{ agent: budgetKey(owner) }} className={look}>
          The agent
        </Link>
      ) : null}
      <Link to="/policies" className={look}>
        Policies with caps
      </Link>
    </div>
  );
}
