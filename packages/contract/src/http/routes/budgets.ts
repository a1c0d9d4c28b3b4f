import { z } from 'zod';
import type { Route } from '../route.ts';
import { idFilter, listOf, paging, timestamp } from '../schemas.ts';

const usd = z.string().regex(/^\d+\.\d{2,6}$/);
const tier = z.enum(['global', 'org', 'team', 'agent']);
const period = z.enum(['day', 'month']);

const budgetJson = z.object({
  tier,
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  period,
  limit_usd: usd.nullable(),
  spent_usd: usd,
  reserved_usd: usd,
  resets_at: timestamp,
  reached_at: timestamp.nullable(),
});

const spentWindow = z.object({
  starts_at: timestamp,
  ends_at: timestamp,
  spent_usd: usd,
  limit_usd: usd.nullable(),
  closed: z.boolean(),
});

const booksCheck = z.object({
  consistent: z.boolean(),
  checked_entries: z.int(),
  checked_from: timestamp.nullable(),
  differences: z.array(
    z.object({
      tier,
      org_id: z.string().nullable(),
      team_id: z.string().nullable(),
      agent_id: z.string().nullable(),
      period: period.nullable(),
      ledger_usd: z.string(),
      log_usd: z.string(),
    }),
  ),
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
    query: z.object({
      ...paging,
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      tier: tier.optional(),
      period: period.optional(),
      min_percent: z.coerce.number().int().min(0).max(100).optional(),
    }),
    success: { status: 200, description: 'A page.', body: listOf(budgetJson) },
    problems: [],
  },
  budgetHistory: {
    method: 'GET',
    path: '/api/v1/budgets/history',
    tag: 'Budgets',
    summary:
      'What everybody, an org, a team or an agent has spent day by day or month by month, the newest last. Days and months of which nothing is on record are left out.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      period: period.default('day'),
      count: z.coerce.number().int().min(1).max(400).default(30),
    }),
    success: { status: 200, description: 'The days or months.', body: z.object({ items: z.array(spentWindow) }) },
    problems: [],
  },
  verifyBudgets: {
    method: 'GET',
    path: '/api/v1/budgets/verify',
    tag: 'Budgets',
    summary:
      'Whether what the budgets say was spent this month and day is what the audit log adds up to, and what they hold back what operations in flight do.',
    access: 'admin',
    tenancy: 'unbound',
    success: { status: 200, description: 'What was found.', body: booksCheck },
    problems: ['tenant_bound'],
  },
} as const satisfies Record<string, Route>;
