import { z } from 'zod';
import type { Route } from '../route.ts';
import { idFilter, timestamp, wholeNumber } from '../schemas.ts';

/** Statistics of recent activity. */
export const statsRoutes = {
  decisionStats: {
    method: 'GET',
    path: '/api/v1/stats/decisions',
    tag: 'Statistics',
    summary:
      'How many checks were allowed, denied and held for approval in each of the last minutes, and which rules denied most. Minutes without a decision are left out. The counts begin with the start of this gateway; "since" says when that was.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      org_id: idFilter,
      minutes: wholeNumber(1, 180).default(60),
    }),
    success: {
      status: 200,
      description: 'The counts, the newest minute last.',
      body: z.object({
        since: timestamp,
        minutes: z.array(z.object({ at: timestamp, allow: z.int(), deny: z.int(), pending: z.int() })),
        top_denials: z.array(
          z.object({ policy_rule: z.string(), reason: z.string(), count: z.int(), last_at: timestamp }),
        ),
      }),
    },
    problems: [],
  },
} as const satisfies Record<string, Route>;
