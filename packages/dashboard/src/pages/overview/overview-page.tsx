import { useRefreshOn } from '../../api/use-refresh.ts';
import { Page } from '../../ui/page.tsx';
import { AgentsCard } from './agents-card.tsx';
import { ApprovalsCard } from './approvals-card.tsx';
import { BudgetsCard } from './budgets-card.tsx';
import { DecisionsCard } from './decisions-card.tsx';
import { DenialsCard } from './denials-card.tsx';
import { GatewaysCard } from './gateways-card.tsx';
import { HealthCard } from './health-card.tsx';
import { NoPolicyCard } from './no-policy-card.tsx';
import { OpsCard, opCountsKey } from './ops-card.tsx';

/** The current activity at a glance. Each number leads to the page with the rest. */
export function OverviewPage() {
  useRefreshOn(['decision'], ['decisionStats']);
  useRefreshOn(['ops_change'], [opCountsKey]);
  useRefreshOn(['approval'], ['listApprovals'], 500);
  useRefreshOn(['agent'], ['topologyStats']);
  useRefreshOn(['budget', 'ops_change'], ['listBudgets'], 10_000);
  useRefreshOn(['policy', 'audit_alert'], ['readyz', 'listPolicies']);
  useRefreshOn(['agent', 'ops_change'], ['listGateways'], 10_000);
  return (
    <Page title="Overview">
      <NoPolicyCard />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-3">
        <div className="flex min-w-0 flex-col gap-4 lg:col-span-2">
          <DecisionsCard />
          <DenialsCard />
          <BudgetsCard />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <ApprovalsCard />
          <OpsCard />
          <AgentsCard />
          <HealthCard />
          <GatewaysCard />
        </div>
      </div>
    </Page>
  );
}
