import { z } from 'zod';
import type { Route } from '../route.ts';
import { actorJson, idFilter, idOrEmpty, idPath, listOf, paging, reason, timestamp } from '../schemas.ts';

/** A suspension as events tell of it. */
export const suspensionTold = z.object({
  id: z.string(),
  /** Null stands for any: without an org, everything is suspended. */
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  action: z.enum(['pause', 'terminate']),
  by: actorJson,
  reason: z.string(),
  since: timestamp,
});

const suspensionJson = suspensionTold.extend({
  /** What became of what ran in it. Null for a caller whose tenant is only a part of the scope. */
  operations: z.object({ matched: z.int(), changed: z.int(), skipped: z.int(), control_id: z.string() }).nullable(),
});

/** Suspensions of whole orgs, of teams and of everything. */
export const suspensionRoutes = {
  suspendScope: {
    method: 'POST',
    path: '/api/v1/suspensions',
    tag: 'Operations',
    summary:
      'Suspend an org, a team of it, or everything. What runs in it is paused or terminated, and from then on every check of every agent in it is denied, also of agents that register later, until the suspension is lifted. A whole org, and everything, need the scope "admin"; everything needs a credential without a tenant.',
    access: 'write',
    tenancy: 'own',
    body: z
      .strictObject({
        org_id: idOrEmpty.optional(),
        team_id: idOrEmpty.optional(),
        action: z.enum(['pause', 'terminate']),
        reason,
      })
      .refine(({ org_id, team_id }) => team_id === undefined || org_id !== undefined, {
        message: 'needs org_id, the org that the team is in',
        path: ['team_id'],
      })
      .meta({ dependentRequired: { team_id: ['org_id'] } }),
    success: { status: 201, description: 'The suspension, and what became of what ran.', body: suspensionJson },
    problems: ['scope_not_found', 'tenant_bound', 'too_many_suspensions'],
  },
  listSuspensions: {
    method: 'GET',
    path: '/api/v1/suspensions',
    tag: 'Operations',
    summary:
      'The suspensions in force, newest first: those of the caller’s tenant, and those of wider scopes that hold it.',
    access: 'read',
    tenancy: 'own',
    query: z.object({ ...paging, org_id: idFilter, team_id: idFilter }),
    success: { status: 200, description: 'A page.', body: listOf(suspensionJson) },
    problems: [],
  },
  liftSuspension: {
    method: 'DELETE',
    path: '/api/v1/suspensions/{id}',
    tag: 'Operations',
    summary:
      'Lift a suspension. What it paused runs on, unless something else holds it. This takes what suspending the scope takes, and a credential at least as wide as the one that did. A credential that registered an agent in the scope lifts only what it imposed itself.',
    access: 'write',
    tenancy: 'own',
    params: idPath,
    body: z.strictObject({ reason: reason.default('') }),
    success: { status: 200, description: 'The suspension that is lifted.', body: suspensionJson },
    problems: ['suspension_not_found', 'imposed_by_wider', 'own_agent'],
  },
} as const satisfies Record<string, Route>;
