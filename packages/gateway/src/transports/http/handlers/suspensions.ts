import type { Controls, Execute } from '@reeve/core';
import { listSuspensions, suspensionPlace } from '@reeve/core';
import { cursorAfterPlace, pageEndOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import { suspensionJson } from '../present-suspension.ts';

type SuspensionRoutes = 'suspendScope' | 'listSuspensions' | 'liftSuspension';

export function suspensionHandlers(controls: Controls, execute: Execute): Pick<Handlers, SuspensionRoutes> {
  return {
    suspendScope: async ({ body }, { principal }) => {
      const { org_id: orgId, team_id: teamId, action, reason } = body;
      const suspended = await execute({ kind: 'suspend_scope', by: principal, orgId, teamId, action, reason });
      return suspensionJson(principal)(suspended);
    },
    listSuspensions: async ({ query }, { principal }) => {
      const filter = { orgId: query.org_id, teamId: query.team_id };
      const page = { before: pageEndOf(query.cursor), limit: query.per_page };
      const found = await controls.journal.durable(() => listSuspensions(controls, principal, filter, page));
      const items = fitting(found.suspensions, suspensionJson(principal));
      const last = found.suspensions[items.length - 1];
      const isCut = items.length < found.suspensions.length && last !== undefined;
      return { items, next_cursor: cursorAfterPlace(isCut ? suspensionPlace(last) : found.next), total: found.total };
    },
    liftSuspension: async ({ params, body }, { principal }) => {
      const lifted = await execute({ kind: 'lift_suspension', by: principal, id: params.id, reason: body.reason });
      return suspensionJson(principal)(lifted);
    },
  };
}
