import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';
import { role } from './accounts.ts';
import {
  actorJson,
  agentIdJson,
  idFilter,
  idPath,
  listOf,
  opJson,
  paging,
  reason,
  runIdFilter,
  time,
  timestamp,
  usd,
  userJson,
} from '../schemas.ts';

/** `cancelled`: its operation ended before a verdict. */
export const approvalState = z.enum(['open', 'approved', 'rejected', 'expired', 'cancelled']);

/** The reach of a standing grant: this run of the agent, or until a time. */
const grantReach = z.enum(['run', 'until']);

export const approvalJson = z.object({
  id: z.string(),
  state: approvalState,
  op_id: z.string(),
  agent: agentIdJson,
  /**
   * What will happen, on one line of at most 200 code points: a command with its arguments and folder, a file, a tool with
   * its arguments, a model. Made by the gateway, with secrets replaced and hidden characters written out; a cut one says so.
   */
  title: z.string(),
  action_type: opJson.shape.action_type.unwrap(),
  resource: z.string(),
  summary: z.string(),
  run_id: z.string(),
  /** For whom the agent acts. Null if it acts for nobody that is proven. */
  user: userJson.nullable(),
  /** The requested action, with secrets replaced. */
  action: z.record(z.string(), z.unknown()),
  /** The digest of the exact request that a verdict covers. */
  digest: z.string(),
  /** `<document>/<rule>`, or `budget/<tier>.<period>` if a budget asks. */
  policy_rule: z.string(),
  /** All rules that ask, in order. The strictest of their terms apply together. Empty if only a budget asks. */
  rules: z.array(z.string()),
  /** Whether a verdict may include a "grant". */
  grantable: z.boolean(),
  /** Whose verdicts count. */
  approvers: z.object({
    /** All of these must be met, each by its role and by its email if it names both. Empty: everybody who may decide counts. */
    by: z.array(z.object({ roles: z.array(role).optional(), emails: z.array(z.string()).optional() })),
    /** Whether the person for whom the agent acts does not count. */
    not_user: z.boolean(),
    /** The same in words. Empty if everybody counts who may decide. */
    words: z.string(),
  }),
  /**
   * Why a verdict of the caller would be refused; null if it would not. A message of the webhook means the person in whose
   * name its links decide. Events mean nobody, and lack it.
   */
  refusal: z.object({ code: z.string(), detail: z.string() }).nullable().optional(),
  policy_version: z.string(),
  /** Why the gateway asks a person. */
  reason: z.string(),
  cost_micros: z.int(),
  cost_usd: usd,
  requested_at: timestamp,
  expires_at: timestamp,
  /** How many different people must approve. */
  required: z.int().min(1),
  /** Whether the agent is one of an approver's own: registered with its credential, or with one that it comes from. */
  self_approved: z.boolean(),
  verdicts: z.array(
    z.object({
      verdict: z.enum(['approve', 'reject']),
      actor: actorJson,
      self_approved: z.boolean(),
      reason: z.string(),
      at: timestamp,
    }),
  ),
  /** The time of the approval, rejection, cancellation or expiry. */
  decided_at: timestamp.nullable(),
  /** The standing grant that resulted. */
  grant_id: z.string().nullable(),
});

export const grantJson = z.object({
  id: z.string(),
  state: z.enum(['active', 'expired', 'revoked']),
  approval_id: z.string(),
  agent: agentIdJson,
  /** The first of the rules that asked at the time. */
  policy_rule: z.string(),
  /** All of these rules. If another rule asks by now, the grant does not cover the action. */
  rules: z.array(z.string()),
  action_type: opJson.shape.action_type.unwrap(),
  resource: z.string(),
  /** The coverage in words: the operation and the resource, or a command with its arguments. */
  covers: z.string(),
  reach: grantReach,
  run_id: z.string().nullable(),
  granted_at: timestamp,
  granted_by: actorJson,
  reason: z.string(),
  expires_at: timestamp,
  uses: z.int(),
  last_used_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
});

const verdict = {
  method: 'POST',
  tag: 'Approvals',
  access: 'write',
  tenancy: 'own',
  params: idPath,
} as const;

const verdictProblems = [
  'approval_not_found',
  'already_decided',
  'own_approval',
  'own_request',
  'not_an_approver',
] as const;

/** The token is in the query, which no log and no problem shows. */
const link = {
  path: '/api/v1/approval-link',
  tag: 'Approvals',
  access: 'public',
  tenancy: 'none',
  accounts: true,
  query: z.object({ token: z.string().min(1).max(256) }),
} as const;

/** Whether the state is one that somebody has brought about. Without one, those that wait are meant. */
const isDecided = (state = 'open') => state !== 'open' && state !== 'pending';

/** Actions that wait for a person, and what people have granted. */
export const approvalRoutes = {
  listApprovals: {
    method: 'GET',
    path: '/api/v1/approvals',
    tag: 'Approvals',
    summary:
      'Actions that wait for a verdict, the one that expires first at the top. With "state": decided ones, newest first.',
    access: 'read',
    tenancy: 'own',
    query: z
      .object({
        ...paging,
        /** `decided`: approved or rejected. */
        state: z.enum([...approvalState.options, 'pending', 'decided', 'all']).optional(),
        /** The author of one of the verdicts: the email of an account, or the id or label of a key. Letter case does not count. */
        decided_by: z.string().min(1).max(bounds.email).optional(),
        /** Decided from this time on, up to and with "to". */
        from: time.optional(),
        to: time.optional(),
        org_id: idFilter,
        team_id: idFilter,
        agent_id: idFilter,
        run_id: runIdFilter,
      })
      .refine(({ state, decided_by, from, to }) => isDecided(state) || (decided_by ?? from ?? to) === undefined, {
        message: 'must be "decided", "approved" or "rejected" beside decided_by, from and to',
        path: ['state'],
      }),
    success: { status: 200, description: 'A page.', body: listOf(approvalJson) },
    problems: [],
  },
  getApproval: {
    method: 'GET',
    path: '/api/v1/approvals/{id}',
    tag: 'Approvals',
    summary: 'One approval.',
    access: 'read',
    tenancy: 'own',
    params: idPath,
    success: { status: 200, description: 'The approval.', body: approvalJson },
    problems: ['approval_not_found'],
  },
  approve: {
    ...verdict,
    path: '/api/v1/approvals/{id}/approve',
    summary:
      'Approve. The operation runs as soon as enough people have approved. With "grant", the same agent may do the same for the rest of its run, or until a time, without asking.',
    body: z.strictObject({
      reason: reason.default(''),
      grant: z
        .union(
          [z.strictObject({ reach: z.literal('run') }), z.strictObject({ reach: z.literal('until'), until: time })],
          'must be {"reach": "run"}, or {"reach": "until", "until": …} with a time as in 2026-12-01T17:00:00Z',
        )
        .optional(),
    }),
    success: { status: 200, description: 'The approval as it is now.', body: approvalJson },
    problems: [...verdictProblems, 'suspended', 'imposed_by_wider'],
  },
  reject: {
    ...verdict,
    path: '/api/v1/approvals/{id}/reject',
    summary: 'Reject. The operation is terminated, and its agent is told.',
    body: z.strictObject({ reason: reason.default('') }),
    success: { status: 200, description: 'The approval as it is now.', body: approvalJson },
    problems: [...verdictProblems],
  },
  showApprovalLink: {
    ...link,
    method: 'GET',
    summary: 'The page behind a link in a chat message: it shows the action, and asks to confirm. It decides nothing.',
    success: { status: 200, description: 'A page.', types: ['text/html'] },
    problems: ['invalid_token', 'approval_not_found', 'insufficient_scope'],
  },
  useApprovalLink: {
    ...link,
    method: 'POST',
    summary:
      'Decide by a link in a chat message, in the name of SVC_APPROVAL_WEBHOOK_APPROVER. The same rules hold as for that account, without the scope admin. A link works once.',
    success: { status: 200, description: 'A page that says what became of it.', types: ['text/html'] },
    problems: [
      'invalid_token',
      'approval_not_found',
      'insufficient_scope',
      'already_decided',
      'suspended',
      'own_approval',
      'own_request',
      'not_an_approver',
      'imposed_by_wider',
    ],
  },
  listGrants: {
    method: 'GET',
    path: '/api/v1/grants',
    tag: 'Approvals',
    summary: 'Standing grants in force, newest first; with "state", also those that have ended.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      ...paging,
      state: z.enum(['active', 'expired', 'revoked', 'all']).optional(),
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
    }),
    success: { status: 200, description: 'A page.', body: listOf(grantJson) },
    problems: [],
  },
  revokeGrant: {
    method: 'POST',
    path: '/api/v1/grants/{id}/revoke',
    tag: 'Approvals',
    summary: 'End a standing grant. The next such action needs an approval again. Revoking it again changes nothing.',
    access: 'write',
    tenancy: 'own',
    params: idPath,
    body: z.strictObject({ reason: reason.default('') }),
    success: { status: 200, description: 'The grant as it is now.', body: grantJson },
    problems: ['grant_not_found'],
  },
} as const satisfies Record<string, Route>;
