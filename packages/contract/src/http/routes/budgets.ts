import { z } from 'zod';
import type { Route } from '../route.ts';
import { listOf, paging, timestamp } from '../schemas.ts';

const usd = z.string().regex(/^\d+\.\d{2,6}$/);
const filter = z.string().max(128).optional();

const budgetJson = z.object({
  tier: z.enum(['global', 'org', 'team', 'agent']),
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  period: z.enum(['day', 'month']),
  limit_usd: usd.nullable(),
  spent_usd: usd,
  reserved_usd: usd,
  resets_at: timestamp,
  reached_at: timestamp.nullable(),
});

/** What may be spent, and has been. */
export const budgetRoutes = {
  listBudgets: {
    method: 'GET',
    path: '/api/v1/budgets',
    tag: 'Budgets',
    summary:
      'What everybody, each org, team and agent may spend a day and a month, has spent and holds back. "reached_at" says when the cap is reached at the present rate.',
    access: 'read',
    tenancy: 'own',
    query: z.object({ ...paging, org_id: filter, team_id: filter, agent_id: filter }),
    success: { status: 200, description: 'A page.', body: listOf(budgetJson) },
    problems: [],
  },
} as const satisfies Record<string, Route>;
