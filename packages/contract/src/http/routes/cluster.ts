import { z } from 'zod';
import type { Route } from '../route.ts';
import { timestamp } from '../schemas.ts';

/** The gateways that act as one. */
export const clusterRoutes = {
  listGateways: {
    method: 'GET',
    path: '/api/v1/cluster',
    tag: 'Service',
    summary:
      'The gateways on the same database, with the agents that speak to each of them and their operations in flight. A gateway that has shown no sign of life for SVC_TAKEOVER_SECS is lost: the others serve its agents. A gateway alone lists itself.',
    access: 'admin',
    tenancy: 'unbound',
    success: {
      status: 200,
      description: 'The gateways, the longest known first.',
      body: z.object({
        gateways: z.array(
          z.object({
            id: z.string(),
            version: z.string(),
            started_at: timestamp,
            state: z.enum(['active', 'leaving', 'lost']),
            agents: z.int(),
            ops_in_flight: z.int(),
            self: z.boolean(),
          }),
        ),
      }),
    },
    problems: [],
  },
} as const satisfies Record<string, Route>;
