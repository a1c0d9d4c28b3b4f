import { accessRoutes } from './routes/access.ts';
import { auditRoutes } from './routes/audit.ts';
import { serviceRoutes } from './routes/service.ts';
import { tenancyRoutes } from './routes/tenancy.ts';

/** Every route of the HTTP API: what validates requests, what the OpenAPI document says and what clients may rely on. */
export const routes = { ...serviceRoutes, ...accessRoutes, ...auditRoutes, ...tenancyRoutes } as const;

export type Routes = typeof routes;
export type RouteName = keyof Routes;

/** The account endpoints of the specification. Where there is no account store they answer 503 and nothing else. */
export const accountPaths = [
  { method: 'POST', path: '/api/v1/auth/login' },
  { method: 'POST', path: '/api/v1/auth/register' },
  { method: 'POST', path: '/api/v1/auth/invite' },
  { method: 'POST', path: '/api/v1/auth/invite/accept' },
  { method: 'POST', path: '/api/v1/auth/refresh' },
  { method: 'POST', path: '/api/v1/auth/logout' },
  { method: 'POST', path: '/api/v1/auth/password/reset' },
  { method: 'POST', path: '/api/v1/auth/password/reset/confirm' },
] as const;
