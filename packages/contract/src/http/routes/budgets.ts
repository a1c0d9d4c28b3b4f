import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';
import {
  alsoOneOf,
  id,
  idFilter,
  idOrEmpty,
  listOf,
  paging,
  reason,
  timestamp,
  usd,
  wholeNumber,
  without,
} from '../schemas.ts';

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

const rateJson = z.object({
  /** `<document>/rate-<index>` */
  rate: z.string(),
  tier,
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  window_secs: z.int(),
  max: z.int(),
  /** What it counts; null: everything. */
  actions: z.array(z.string()).nullable(),
  tools: z.array(z.string()).nullable(),
  /** How many checks count now. */
  count: z.int(),
  /** When there is room again; null if there is room. */
  room_at: timestamp.nullable(),
});

const spentWindow = z.object({
  starts_at: timestamp,
  ends_at: timestamp,
  spent_usd: usd,
  limit_usd: usd.nullable(),
  closed: z.boolean(),
});

const budgetsCheck = z.object({
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
      ledger_usd: usd,
      log_usd: usd,
    }),
  ),
});

const rates = { input_per_mtok_usd: usd, output_per_mtok_usd: usd, cached_input_per_mtok_usd: usd };

const priceJson = z.object({
  model: z.string(),
  ...rates,
  /** What counts for the whole call if its input has more tokens than this. */
  beyond: z.object({ input_tokens: z.int(), ...rates }).nullable(),
  /** `configured` by a policy, or `built in` and the day of the table. */
  source: z.string(),
});

/** Either `agent` alone names the owner, or `org_id` with an optional `team_id`. */
const correction = z
  .strictObject({
    agent: z.strictObject({ org_id: idOrEmpty, team_id: idOrEmpty, agent_id: id }).optional(),
    org_id: id.optional(),
    team_id: idOrEmpty.optional(),
    amount_usd: z
      .string()
      .regex(
        /^[-+]?(?=.*[1-9])\d{1,12}(\.\d{1,6})?$/,
        'must be US dollars other than 0 with at most 12 digits and 6 decimals, as "-1.50"',
      )
      .meta({ maxLength: 20, examples: ['-1.50'] }),
    reason: reason.min(1),
  })
  .meta(
    alsoOneOf([
      { required: ['agent'], ...without('org_id', 'team_id') },
      { required: ['org_id'], ...without('agent') },
    ]),
  );

/** Caps and spend. */
export const budgetRoutes = {
  listBudgets: {
    method: 'GET',
    path: '/api/v1/budgets',
    tag: 'Budgets',
    summary:
      'The budgets of everybody, each org, team and agent, per day and month: the cap, the amount spent and the amount reserved. "reached_at" says when spending reaches the cap at the present rate.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      ...paging,
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      tier: tier.optional(),
      period: period.optional(),
      min_percent: wholeNumber(0, 100).optional(),
    }),
    success: { status: 200, description: 'A page.', body: listOf(budgetJson) },
    problems: [],
  },
  listRates: {
    method: 'GET',
    path: '/api/v1/rates',
    tag: 'Budgets',
    summary:
      'The rates of the policies, for each agent, team or org that they count, and for everybody together: the maximum, how many checks count now, and when there is room again.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      ...paging,
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      tier: tier.optional(),
      min_percent: wholeNumber(0, 100).optional(),
    }),
    success: { status: 200, description: 'A page.', body: listOf(rateJson) },
    problems: [],
  },
  budgetHistory: {
    method: 'GET',
    path: '/api/v1/budgets/history',
    tag: 'Budgets',
    summary:
      'What everybody, an org, a team or an agent has spent, day by day or month by month, the newest last. Days and months without a record are left out.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      period: period.default('day'),
      count: wholeNumber(1, 400).default(30),
    }),
    success: { status: 200, description: 'The days or months.', body: z.object({ items: z.array(spentWindow) }) },
    problems: [],
  },
  verifyBudgets: {
    method: 'GET',
    path: '/api/v1/budgets/verify',
    tag: 'Budgets',
    summary:
      'Compare the amounts spent this month and day with the sums of the audit log, and the amounts reserved with the operations in flight.',
    access: 'admin',
    tenancy: 'unbound',
    success: { status: 200, description: 'What was found.', body: budgetsCheck },
    problems: [],
  },
  listPrices: {
    method: 'GET',
    path: '/api/v1/prices',
    tag: 'Budgets',
    summary:
      'What models cost, in US dollars for a million tokens, and where each price comes from. Prices that a policy configures come first, as globs, and count over the built-in ones.',
    access: 'read',
    tenancy: 'unbound',
    query: z.object({ model: z.string().min(1).max(bounds.name).optional() }),
    success: {
      status: 200,
      description: 'The prices, what counts for models without one, and where the built-in ones come from.',
      body: z.object({
        items: z.array(priceJson),
        unknown_price: z.enum(['deny', 'zero', 'worst']),
        built_in: z.object({ as_of: z.string(), source: z.string() }),
      }),
    },
    problems: [],
  },
  correctBudget: {
    method: 'POST',
    path: '/api/v1/budgets/correct',
    tag: 'Budgets',
    summary:
      'Correct the amount that an agent, a team or an org has settled today and this month, and with it all tiers above. A correction takes no more off today than there is, and no month falls below 0.',
    access: 'admin',
    tenancy: 'unbound',
    body: correction,
    success: {
      status: 200,
      description: 'The budgets that were corrected, as they are now.',
      body: z.object({ items: z.array(budgetJson) }),
    },
    problems: ['agent_not_found', 'team_not_found'],
  },
} as const satisfies Record<string, Route>;
