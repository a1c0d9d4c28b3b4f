import { accountRoutes } from './routes/accounts.ts';
import { accessRoutes } from './routes/access.ts';
import { auditRoutes } from './routes/audit.ts';
import { budgetRoutes } from './routes/budgets.ts';
import { eventRoutes } from './routes/events.ts';
import { opsRoutes } from './routes/ops.ts';
import { serviceRoutes } from './routes/service.ts';
import { tenancyRoutes } from './routes/tenancy.ts';

/** Every route of the HTTP API: what validates requests, what the OpenAPI document says and what clients may rely on. */
export const routes = {
  ...serviceRoutes,
  ...accessRoutes,
  ...accountRoutes,
  ...auditRoutes,
  ...budgetRoutes,
  ...tenancyRoutes,
  ...opsRoutes,
  ...eventRoutes,
} as const;

export type Routes = typeof routes;
export type RouteName = keyof Routes;
