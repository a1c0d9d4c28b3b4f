import { accountRoutes } from './routes/accounts.ts';
import { accessRoutes } from './routes/access.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { auditRoutes } from './routes/audit.ts';
import { backupRoutes } from './routes/backups.ts';
import { budgetRoutes } from './routes/budgets.ts';
import { clusterRoutes } from './routes/cluster.ts';
import { decisionRoutes } from './routes/decisions.ts';
import { eventRoutes } from './routes/events.ts';
import { opsRoutes } from './routes/ops.ts';
import { policyRoutes } from './routes/policies.ts';
import { policyTestRoutes } from './routes/policy-tests.ts';
import { runRoutes } from './routes/runs.ts';
import { serviceRoutes } from './routes/service.ts';
import { signOnRoutes } from './routes/sign-on.ts';
import { statsRoutes } from './routes/stats.ts';
import { suspensionRoutes } from './routes/suspensions.ts';
import { tenancyRoutes } from './routes/tenancy.ts';

/** Every route of the HTTP API. It validates requests, feeds the OpenAPI document and is what clients rely on. */
export const routes = {
  ...serviceRoutes,
  ...accessRoutes,
  ...accountRoutes,
  ...signOnRoutes,
  ...auditRoutes,
  ...approvalRoutes,
  ...policyRoutes,
  ...policyTestRoutes,
  ...decisionRoutes,
  ...budgetRoutes,
  ...clusterRoutes,
  ...backupRoutes,
  ...statsRoutes,
  ...tenancyRoutes,
  ...opsRoutes,
  ...runRoutes,
  ...suspensionRoutes,
  ...eventRoutes,
} as const;

export type Routes = typeof routes;
export type RouteName = keyof Routes;
