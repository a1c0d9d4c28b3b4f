import type { SealedEntry } from '@reeve/core';
import { code, page, table } from './page.ts';

type EventType = SealedEntry['draft']['eventType'];
type EventText = readonly [when: string, payload: string] | null;

const asked =
  '`action` (what was asked, secrets replaced), `resource`, `digest`, `cost_micros`, `op_state`; where there are any `run_id`, `summary`, `claimed_caller` (`caller_agent_id`, which nothing proves), `observed` (what [observed documents](../guides/policies.md#observing-a-policy-before-it-decides) would have done otherwise); `replay` for a repeated check.';
const claimed = '`action_type`, `claimed_org_id`, `claimed_team_id`, `claimed_agent_id`';
const key = '`key_id`, `label`, `scopes`; over HTTP `request_id`';

/** When each event is written, and what its payload holds; null where this version never writes it. */
const events: Readonly<Record<EventType, EventText> & Record<string, EventText>> = {
  ActionAllowed: ['A check was answered ALLOW.', `${asked} Where a standing grant allowed it, \`grant_id\`.`],
  ActionDenied: [
    'A check was answered DENY: by policy, by a replay, or because the identity failed.',
    `${asked} After a failed identity: ${claimed}.`,
  ],
  ActionPending: [
    'A check was answered PENDING: it waits for an approval, or its operation is paused.',
    `${asked} Where it waits for an approval, \`approval_id\`.`,
  ],
  A2AImpersonationAttempted: [
    'A check was denied because the token belongs to another agent than the claimed one. The lineage is the real owner’s.',
    `${claimed}, \`owner_org_id\`, \`owner_team_id\`, \`owner_agent_id\`.`,
  ],
  AgentRegistered: [
    'An agent was registered, or registered again with a new token.',
    '`created`, `name`, `framework`, `version`, `parent`.',
  ],
  AgentDeregistered: ['An agent ended its registration.', 'Empty. The reason it gave is the `reason` of the entry.'],
  AgentSuspended: ['An operator suspended an agent.', '`request_id`.'],
  AgentResumed: [
    'An operator lifted a suspension, or the block of an agent that had not confirmed a stop.',
    '`request_id`.',
  ],
  OpStateChanged: [
    'An operation moved without a decision: an operator controlled or registered it, its agent completed it, deregistered, was suspended or resumed.',
    '`from`, `to`, `trigger`, `cost_micros`; over HTTP `request_id`; by a control `control_id`, and `cause` where a suspension did it; on completion `outcome`, `detail`, `reserved_micros`, and where it did cost something `booked`: the day that this belongs to; `cause` is `unchecked` where it was registered and never checked.',
  ],
  OpControlRequested: [
    'An operator paused, resumed or terminated an operation, or all within a scope: then there is one entry for the whole.',
    '`action`, `control_id`, `request_id`; of a scope also `scope`, `matched`, `changed`, `skipped`, as they were when it was asked for.',
  ],
  OpPauseWidened: [
    'A wider credential paused an operation that a narrower one had paused. It stays paused, and only one as wide as the new one resumes it. There is one entry for each such operation, also of a scope.',
    '`control_id`: its control from now on; `width` and `previous_width`: how wide the credentials are (`team`, `org` or `unbound`); `request_id`.',
  ],
  OpControlAcknowledged: [
    'An agent said what became of a control, and it was news.',
    '`action`, `control_id`, `sequence`, `outcome`, `detail`.',
  ],
  OpControlUnconfirmed: [
    'An agent did not acknowledge a control in time, or its message was given up. The `reason` says which.',
    '`action`, `control_id`, `sequence`, `blocked`: whether the agent is not answered until it does.',
  ],
  PolicyReloaded: [
    'Policies were put in force: at start, after a change of the files, or because a stored document was changed, which is on record in the tenant of its scope.',
    '`previous_version`; of files `documents` (names), and `set_aside` where stored documents do not count beside them; of a stored document `change` (`put`, `rolled_back` or `deleted`), `name`, `version`, `scope`, `request_id`, and `note` where there is one.',
  ],
  PolicyReloadFailed: [
    'Policies in files have errors: after a change those in force stayed, at start this ends the start. Or a document that another gateway has stored does not count here.',
    '`problems`: up to 20, each with file, line and column.',
  ],
  ApiKeyCreated: ['A key was made over HTTP or installed at start.', `${key}; after a rotation \`rotated_from\`.`],
  ApiKeyRevoked: ['A key was revoked or rotated.', `${key}; after a rotation \`rotated_to\`.`],
  TokenIssued: ['A key was exchanged for a token.', '`key_id`, `token_id`, `scopes`, `request_id`.'],
  LoginSucceeded: ['A person has logged in.', '`account_id`, `session_id`, `remember_me`, `address`, `request_id`.'],
  LoginFailed: [
    'A login has failed, or came while its email was locked.',
    '`email_hash`, and where it was counted `account_id` (null where there is none) and `failures`; `address`, `request_id`.',
  ],
  AccountLocked: [
    'Too many logins under an email have failed.',
    '`email_hash`, `account_id` (null where there is none), `failures`, `address`, `request_id`.',
  ],
  AccountRegistered: [
    'An account was registered: the first one, or by open registration.',
    '`account_id`, `email`, `role`, `session_id`, `address`, `request_id`.',
  ],
  AccountChanged: [
    'The role or the status of an account has changed.',
    '`account_id`, `email`, `role`, `status`, `was`, `address`, `request_id`.',
  ],
  InviteCreated: ['Someone was invited.', '`invite_id`, `email`, `role`, `address`, `request_id`.'],
  InviteAccepted: [
    'An invite was accepted; the account is active.',
    '`invite_id`, `account_id`, `email`, `role`, `session_id`, `address`, `request_id`.',
  ],
  InviteRevoked: ['An invite was revoked.', '`invite_id`, `email`, `role`, `address`, `request_id`.'],
  PasswordResetRequested: [
    'A reset was asked for, for an account that exists.',
    '`account_id`, `address`, `request_id`.',
  ],
  PasswordReset: [
    'A password was set by a reset token; all sessions have ended.',
    '`account_id`, `address`, `request_id`.',
  ],
  PasswordChanged: [
    'A person has changed the own password; all sessions have ended.',
    '`account_id`, `address`, `request_id`.',
  ],
  RefreshTokenReused: [
    'A used refresh token has come back; its session has ended.',
    '`account_id`, `session_id`, `address`, `request_id`.',
  ],
  SessionEnded: [
    'A person has logged out, or ended one of the own sessions.',
    '`account_id`, `session_id`, `address`, `request_id`.',
  ],
  BudgetLimitApproached: [
    'A share of a cap, 80 or 95 percent, is used up for the first time in its period. What concerns the global cap has no org.',
    '`tier`, `period`, `day` (that it was booked to), `percent`, `limit_micros`, `total_micros`; `team_id` and `tier_agent_id` where the cap is theirs.',
  ],
  BudgetLimitExceeded: [
    'An action was denied, as its cost would have passed a cap.',
    'As `ActionDenied`, and `limit`: `tier`, `period`, `limit_micros`, `spent_micros`, `status`.',
  ],
  BudgetReservationReleased: [
    'Nothing was heard of an agent for `SVC_RESERVATION_LEASE_SECS`: what was held back for one of its operations is free again. The operation stays as it is; its completion is still booked.',
    '`released_micros`, `state` (of the operation).',
  ],
  BudgetOverrun: [
    'An action did cost more than a dollar, and more than ten times what was held back for it. It is booked; the entry follows the `OpStateChanged` of its completion.',
    '`actual_micros`, `reserved_micros`.',
  ],
  BudgetCorrected: [
    'Somebody has corrected what was settled today and this month, in a tier and all above it.',
    '`tier`, `amount_micros`, `day_amount_micros` (what of it was taken off, or added to, the day), `booked` (the day); over HTTP `request_id`. Amounts beyond 2^53 are texts of digits.',
  ],
  BudgetDayMovedBack: [
    'The clock had been ahead by more than two days and has been right for an hour: budgets go back to its day, for which all that was booked later counts.',
    '`from`, `to` (days).',
  ],
  ApprovalRequested: [
    'People are asked whether an action may happen. It follows the `ActionPending` of the same check.',
    '`approval_id`, `cause` (`rule` or `budget`), `required` (how many must approve), `expires_at`, `cost_micros`, `digest`.',
  ],
  ApprovalVerdictGiven: [
    'One of several people who must approve has done so.',
    '`approval_id`, `approvers` (their ids so far), `required`; over HTTP `request_id`.',
  ],
  ApprovalGranted: [
    'Enough people have approved: the operation runs. It follows the `OpStateChanged` of the operation.',
    '`approval_id`, `approvers`, `required`, `request_id`; with a standing grant `grant`: `id`, `reach`, `expires_at`, and `run_id` where it is for a run.',
  ],
  ApprovalRejected: [
    'Somebody has rejected: the operation is terminated.',
    '`approval_id`, `approvers` (who had approved before), `required`, `request_id`.',
  ],
  ApprovalExpired: [
    'Not enough people have approved in time: the operation is terminated.',
    '`approval_id`, `approvers`, `required`.',
  ],
  ApprovalCancelled: [
    'The operation has ended before anybody decided: it was terminated, or its agent has left.',
    '`approval_id`.',
  ],
  GrantRevoked: [
    'A standing grant was revoked.',
    '`grant_id`, `approval_id`, `uses` (how many actions it has allowed), `request_id`.',
  ],
  SigningKeyRotated: ['Tokens are signed with a new key.', '`kid`; over HTTP `request_id`.'],
  AuditLogCut: [
    'The oldest entries were given up, as the retention settings say.',
    '`through_seq`, `through_hash`: the last entry given up; `removed`: how many; `signature`: a JWS over the first two.',
  ],
  AuditEntriesLost: [
    'The log did not contain its newest anchored entry, and the gateway was started with `--accept-lost-entries`.',
    '`anchored_seq`, `anchored_hash`, `anchored_at`: the anchor; `head_seq`, `head_hash`: the newest entry that was there; `kept_seq`: up to where it is as it was, 0 where that is not known; `key_known`: whether the key that signed the anchor is one of the store.',
  ],
};

/** Every type of entry: when it is written, and what its payload holds. */
export function auditEventsPage(): string {
  const all = Object.entries(events).sort(([a], [b]) => (a < b ? -1 : 1));
  const written = all.flatMap(([type, text]) => (text === null ? [] : [[code(type), text[0], text[1]]]));
  const reserved = all.filter(([, text]) => text === null).map(([type]) => code(type));
  return page(
    'Audit events',
    'Each decision writes exactly one entry. Each other change of an operation, an agent, a key or the policies writes one, too. ' +
      'A malformed request writes none: nothing was judged.',
    table(['Event type', 'Written when', 'Payload'], written),
    `Reserved, and never written by this version: ${reserved.join(', ')}.`,
    'The members of an entry are in [concepts](../concepts.md#audit-chain).',
  );
}
