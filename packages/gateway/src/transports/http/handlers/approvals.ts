import type { RouteInput, Routes } from '@reeve/contract/http';
import type { Governance, GrantWish } from '@reeve/core';
import { approveAction, findApproval, listApprovals, listGrants, rejectAction, revokeGrant } from '@reeve/core';
import { cursorAfterPlace, pageEndOf } from '../cursor.ts';
import type { Handlers } from '../handler.ts';
import { approvalJson, grantJson } from '../present-approval.ts';

type ApprovalRoutes = 'listApprovals' | 'getApproval' | 'approve' | 'reject' | 'listGrants' | 'revokeGrant';

export function approvalHandlers(gov: Governance): Pick<Handlers, ApprovalRoutes> {
  return {
    listApprovals: async ({ query }, { principal }) => {
      const { state = 'open', org_id: orgId, team_id: teamId, agent_id: agentId, run_id: runId } = query;
      const filter = { orgId, teamId, agentId, runId, state: state === 'pending' ? 'open' : state } as const;
      const page = { after: pageEndOf(query.cursor), limit: query.per_page };
      const { items, next, total } = await listApprovals(gov, principal, filter, page);
      return { items: items.map(approvalJson), next_cursor: cursorAfterPlace(next), total };
    },
    getApproval: async ({ params }, { principal }) => approvalJson(await findApproval(gov, principal, params.id)),
    approve: async ({ params, body }, { principal }) => {
      const verdict = { reason: body.reason, grant: wishOf(body.grant) };
      return approvalJson(await approveAction(gov, principal, params.id, verdict));
    },
    reject: async ({ params, body }, { principal }) =>
      approvalJson(await rejectAction(gov, principal, params.id, body.reason)),
    listGrants: async ({ query }, { principal }) => {
      const { state = 'active', org_id: orgId, team_id: teamId, agent_id: agentId } = query;
      const page = { after: pageEndOf(query.cursor), limit: query.per_page };
      const { items, next, total } = await listGrants(gov, principal, { orgId, teamId, agentId, state }, page);
      const now = gov.clock.now();
      return { items: items.map((grant) => grantJson(grant, now)), next_cursor: cursorAfterPlace(next), total };
    },
    revokeGrant: async ({ params, body }, { principal }) =>
      grantJson(await revokeGrant(gov, principal, params.id, body.reason), gov.clock.now()),
  };
}

function wishOf(grant: RouteInput<Routes['approve']>['body']['grant']): GrantWish | null {
  if (grant === undefined) return null;
  return grant.reach === 'run' ? grant : { reach: 'until', until: Date.parse(grant.until) };
}
