import type { RouteInput, Routes } from '@reeve/contract/http';
import type { Approval, Approvals, Execute, GrantWish, Listed, Principal } from '@reeve/core';
import { findApproval, listApprovals, listGrants, readApprover, refusalOfVerdict } from '@reeve/core';
import { cursorAfterPlace, pageEndOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import type { ApprovalJson } from '../present-approval.ts';
import { approvalJsonFor, grantJson } from '../present-approval.ts';

type ApprovalRoutes = 'listApprovals' | 'getApproval' | 'approve' | 'reject' | 'listGrants' | 'revokeGrant';

export function approvalHandlers(approvals: Approvals, execute: Execute): Pick<Handlers, ApprovalRoutes> {
  return {
    listApprovals: async ({ query }, { principal }) => {
      const { state = 'open', org_id: orgId, team_id: teamId, agent_id: agentId, run_id: runId } = query;
      const filter = {
        ...{
          orgId,
          teamId,
          agentId,
          runId,
          decidedBy: query.decided_by,
          from: timeOf(query.from),
          to: timeOf(query.to),
        },
        state: state === 'pending' ? 'open' : state,
      } as const;
      const page = { after: pageEndOf(query.cursor), limit: query.per_page };
      const listed = await listApprovals(approvals, principal, filter, page);
      return pageOf(listed, await presenterFor(approvals, principal, listed.items));
    },
    getApproval: async ({ params }, { principal }) => {
      const found = await findApproval(approvals, principal, params.id);
      return await presentFor(approvals, principal, found);
    },
    approve: async ({ params, body }, { principal }) => {
      const { reason } = body;
      const verdict = { by: principal, approvalId: params.id, reason, grant: wishOf(body.grant) };
      return await presentFor(approvals, principal, await execute({ kind: 'approve', ...verdict }));
    },
    reject: async ({ params, body }, { principal }) => {
      const verdict = { by: principal, approvalId: params.id, reason: body.reason };
      return await presentFor(approvals, principal, await execute({ kind: 'reject', ...verdict }));
    },
    listGrants: async ({ query }, { principal }) => {
      const { state = 'active', org_id: orgId, team_id: teamId, agent_id: agentId } = query;
      const page = { after: pageEndOf(query.cursor), limit: query.per_page };
      const now = approvals.clock.now();
      const listed = await listGrants(approvals, principal, { orgId, teamId, agentId, state }, page);
      return pageOf(listed, (grant) => grantJson(grant, now));
    },
    revokeGrant: async ({ params, body }, { principal }) => {
      const command = { kind: 'revoke_grant', by: principal, grantId: params.id, reason: body.reason } as const;
      return grantJson(await execute(command), approvals.clock.now());
    },
  };
}

/** An approval as this caller meets it. */
async function presentFor(approvals: Approvals, by: Principal, approval: Approval): Promise<ApprovalJson> {
  return (await presenterFor(approvals, by, [approval]))(approval);
}

/** The accounts behind the caller are read once for all of them. */
async function presenterFor(
  approvals: Approvals,
  by: Principal,
  shown: readonly Approval[],
): Promise<(approval: Approval) => ApprovalJson> {
  const approver = await readApprover(approvals, by, shown);
  return (approval) => approvalJsonFor(approval, refusalOfVerdict(approvals, approver, approval));
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function pageOf<Item, Json>({ items, next, total, endAt }: Listed<Item>, jsonOf: (item: Item) => Json) {
  const shown = fitting(items, jsonOf);
  const last = items[shown.length - 1];
  const end = shown.length < items.length && last !== undefined ? endAt(last) : next;
  return { items: shown, next_cursor: cursorAfterPlace(end), total };
}

function wishOf(grant: RouteInput<Routes['approve']>['body']['grant']): GrantWish | null {
  if (grant === undefined) return null;
  return grant.reach === 'run' ? grant : { reach: 'until', until: Date.parse(grant.until) };
}
