import { eventSeverities } from '@reeve/core';
import { code, page, table } from './page.ts';

type EventType = keyof typeof eventSeverities;

const asked = 'The [members of a check](#members-of-a-check).';
const claimed = '`action_type`, `claimed_org_id`, `claimed_team_id`, `claimed_agent_id`';
const judged = '`size` in bytes, `is_error`, `resource`, `run_id`';
const judgedPrompt = '`size` in bytes, `resource`, `run_id`';
const key = '`key_id`, `label`, `scopes`; over HTTP `request_id`';

/** When each event is written, and what its payload holds. */
const events: Readonly<Record<EventType, readonly [when: string, payload: string]>> = {
  ActionAllowed: ['A check was answered ALLOW.', `${asked} If a standing grant allowed it, \`grant_id\`.`],
  ActionDenied: [
    'A check was answered DENY: by policy, by a replay, or because the identity failed.',
    `${asked} After a failed identity: ${claimed}.`,
  ],
  ActionPending: [
    'A check was answered PENDING: it waits for an approval, or its operation is paused.',
    `${asked} If it waits for an approval, \`approval_id\`.`,
  ],
  ResultAllowed: [
    'Somebody asked about what an operation brought back, and it passes as it is.',
    `${judged}, \`digest\` (SHA-256 of the bytes that were passed on).`,
  ],
  ResultDenied: ['Somebody asked about what an operation brought back, and it does not pass.', `${judged}.`],
  ResultMasked: [
    'Somebody asked about what an operation brought back, and parts of it were replaced.',
    `${judged}, \`counts\` (how often something was found, by detector, \`pattern\` or \`field\`), \`digest\` (SHA-256 of the bytes that were passed on).`,
  ],
  PromptAllowed: [
    'Somebody asked about the prompt of a model call that rules mask, and they found nothing in it.',
    `${judgedPrompt}, \`digest\` (SHA-256 of the bytes that may be sent).`,
  ],
  PromptDenied: ['Somebody asked about the prompt of a model call, and it cannot be masked.', `${judgedPrompt}.`],
  PromptMasked: [
    'Somebody asked about the prompt of a model call, and parts of it were replaced.',
    `${judgedPrompt}, \`counts\` (as of a result), \`digest\` (SHA-256 of the bytes that may be sent).`,
  ],
  A2AImpersonationAttempted: [
    'A check was denied because the token belongs to an agent other than the claimed one. The lineage is the real owner’s.',
    `${claimed}, \`owner_org_id\`, \`owner_team_id\`, \`owner_agent_id\`.`,
  ],
  AgentRegistered: [
    'An agent was registered, or registered again with a new token.',
    '`created`, `name`, `framework`, `version`, `parent`; `workload: true` if it came with a JWT and registered itself.',
  ],
  AgentTokenRenewed: [
    'An agent got a new token in place of its old one, which works for 60 seconds more.',
    '`expires_at` of the new token; null if it never ends.',
  ],
  AgentDeregistered: ['An agent ended its registration.', 'Empty. The reason it gave is the `reason` of the entry.'],
  AgentSuspended: ['An operator suspended an agent.', '`request_id`.'],
  AgentResumed: [
    'An operator lifted a suspension, or the block of an agent that had not confirmed a stop.',
    '`request_id`.',
  ],
  AgentDelegated: [
    'An agent let another one act for it, or did so again with other limits. The actor is whoever delegated.',
    '`by`, `again`, `expires_at`, `actions`, `tools`, `max_cost_usd`, `max_checks`, `max_delegates`, `name`.',
  ],
  DelegationEnded: [
    'A delegation has ended. The token of the delegate stopped, and its operations were terminated.',
    '`by`, `cause` (`expired`, `revoked`, `delegator_ended`, `deregistered` or `workload`), `checks`, `spent_usd`.',
  ],
  ToolDefinitionChanged: [
    'Tools of a server are not defined as when somebody locked them. The agent, or the proxy in front of it, reports that. A report has one entry, or several if its list is long. A gateway does not record a change of a tool again within 24 hours after it was recorded, there or at another gateway on the same log, as long as the gateway runs and there are not too many others.',
    '`tool_source`, `changed`: of each tool `tool_name`, `locked_sha256` (empty if the lock does not hold the tool) and `actual_sha256` (empty if the tool is gone).',
  ],
  OpStateChanged: [
    'An operation moved without a decision: an operator controlled or registered it, or its agent completed it, deregistered, was suspended or resumed.',
    '`from`, `to`, `trigger`, `cost_micros`; over HTTP `request_id`. Also the [members of a move](#members-of-a-move).',
  ],
  OpControlRequested: [
    'An operator paused, resumed or terminated one operation, or all within a scope. A scope has one entry.',
    '`action`, `control_id`, `request_id`; for a scope also `scope`, `matched`, `changed`, `skipped`, as they were at the time of the request.',
  ],
  OpPauseWidened: [
    'A wider credential paused an operation that a narrower one had paused. It stays paused, and only a credential as wide as the new one resumes it. Each such operation has one entry, also in a scope.',
    '`control_id`: its control from now on; `width` and `previous_width`: how wide the credentials are (`team`, `org` or `unbound`); `request_id`.',
  ],
  OpControlAcknowledged: [
    'An agent reported a new outcome of a control.',
    '`action`, `control_id`, `sequence`, `outcome`, `detail`.',
  ],
  OpControlUnconfirmed: [
    'An agent did not acknowledge a control in time, or has left, or its message was dropped. The `reason` says which.',
    '`action`, `control_id`, `sequence`, `blocked`: whether the agent’s checks are denied until it acknowledges.',
  ],
  RunHeld: [
    'Somebody paused or terminated a run: its later checks are denied.',
    '`action`, `control_id`, `run_id`, `org_id`, `team_id`, `agent_id`: where it holds, null stands for any; `request_id`.',
  ],
  RunStarted: [
    'A check took up the id of a run that was forgotten: it was quiet for `SVC_RUN_TTL_SECS`, or made room. It is a new run, without the labels and counts of the former one.',
    '`run_id` (null: the run of an agent that sends none), `forgotten_at`.',
  ],
  RunLabelsCleared: [
    'Somebody cleared labels of a run or of an agent.',
    '`run_id` or `agent_id`, `labels` (the names), `request_id`.',
  ],
  RunReleased: [
    'Somebody resumed a run, or its control was given up because too many runs were held. The `reason` says which.',
    'The same members as of `RunHeld`, of the control that ended.',
  ],
  ScopeSuspended: [
    'Somebody suspended an org, a team or everything: every check in it is denied until all its suspensions are lifted. The `reason` is theirs.',
    '`suspension_id`, `action`, `org_id` and `team_id` (null stands for any), `control_id`: the control of what ran in it; `request_id`.',
  ],
  ScopeResumed: [
    'Somebody lifted a suspension. Others may hold the same agents still.',
    'The same members as of `ScopeSuspended`.',
  ],
  PolicyReloaded: [
    'Policies came into force: at start, after a change of the files, or after a change of a stored document. The tenant of a stored document’s scope has the entry.',
    '`previous_version`. For files: `documents` (names), and `set_aside` if stored documents do not count beside them. For a stored document: `change` (`put`, `rolled_back` or `deleted`), `name`, `version`, `scope`, `request_id`, and `note` if there is one.',
  ],
  PolicyReloadFailed: [
    'Policies in files have errors. After a change, the policies in force stay; at start, the start fails. Or a document that another gateway has stored does not count here.',
    '`problems`: up to 20, each with file, line and column.',
  ],
  ApiKeyCreated: ['A key was made over HTTP or installed at start.', `${key}; after a rotation \`rotated_from\`.`],
  ApiKeyRevoked: ['A key was revoked or rotated.', `${key}; after a rotation \`rotated_to\`.`],
  TokenIssued: ['A key was exchanged for a token.', '`key_id`, `token_id`, `scopes`, `request_id`.'],
  LoginSucceeded: [
    'A person has logged in, or has let a command line in.',
    '`account_id`, `session_id`, `remember_me`, `address`, `request_id`; by single sign-on `method` (`oidc`) and `identity_hash`, a hash of issuer and subject; for a command line `method` (`cli`) and `opened_by`, the session of the browser.',
  ],
  LoginFailed: [
    'A login has failed, or came while its email was locked.',
    '`email_hash`, `address`, `request_id`; if it was counted, `account_id` (null if there is none) and `failures`. By single sign-on `method` (`oidc`), and once somebody is known `identity_hash` and `account_id`; the `reason` of the entry is the code of the problem.',
  ],
  AccountLocked: [
    'Too many logins under an email have failed.',
    '`email_hash`, `account_id` (null if there is none), `failures`, `address`, `request_id`.',
  ],
  AccountRegistered: [
    'An account was registered: the first one, or by open registration.',
    '`account_id`, `email`, `role`, `session_id`, `address`, `request_id`.',
  ],
  AccountChanged: [
    'The role, the status or the tenant of an account has changed.',
    '`account_id`, `email`, `role`, `status`, `was`, `address`, `request_id`; by single sign-on also `org_id`, `team_id` and `identity_hash`.',
  ],
  AccountLinked: [
    'An account became that of a person of the single sign-on, by its email. Its password and its sessions ended.',
    '`account_id`, `email`, `identity_hash`, `sessions_ended`, `address`, `request_id`.',
  ],
  InviteCreated: [
    'Someone was invited.',
    '`invite_id`, `email`, `role`, `org_id`, `team_id`: the tenant of the account; `address`, `request_id`.',
  ],
  InviteAccepted: [
    'An invite was accepted; the account is active.',
    '`invite_id`, `account_id`, `email`, `role`, `org_id`, `team_id`, `session_id`, `address`, `request_id`.',
  ],
  InviteRevoked: [
    'An invite was revoked.',
    '`invite_id`, `email`, `role`, `org_id`, `team_id`, `address`, `request_id`.',
  ],
  PasswordResetRequested: [
    'A reset was asked for, for an account that exists.',
    '`account_id`, `address`, `request_id`.',
  ],
  PasswordReset: [
    'A password was set by a reset token; all sessions have ended.',
    '`account_id`, `address`, `request_id`.',
  ],
  PasswordChanged: [
    'A person changed their own password; all sessions have ended.',
    '`account_id`, `address`, `request_id`.',
  ],
  RefreshTokenReused: [
    'A used refresh token has come back; its session has ended.',
    '`account_id`, `session_id`, `address`, `request_id`.',
  ],
  SessionEnded: [
    'A person logged out, or ended one of their own sessions.',
    '`account_id`, `session_id`, `address`, `request_id`.',
  ],
  RateLimitApproached: [
    'A rate is nearly used up: 80 or 95 percent. Each is told at most once in a window.',
    '`tier`, `team_id`, `tier_agent_id`, `window_secs`, `max`, `count`, `percent`',
  ],
  BudgetLimitApproached: [
    'A share of a cap, 80 or 95 percent, is used up for the first time in its period. The entry about the global cap has no org.',
    '`tier`, `period`, `day` (of the booking), `percent`, `limit_micros`, `total_micros`; `team_id` and `tier_agent_id` if the cap is theirs.',
  ],
  BudgetLimitExceeded: [
    'An action was denied because its cost would have passed a cap.',
    'As `ActionDenied`, and `limit`: `tier`, `period`, `limit_micros`, `spent_micros`, `status`.',
  ],
  BudgetReservationReleased: [
    'An agent was silent for `SVC_RESERVATION_LEASE_SECS`, so the reservation of one of its operations was released. The operation stays as it is; its completion is still booked.',
    '`released_micros`, `state` (of the operation).',
  ],
  BudgetOverrun: [
    'An action cost more than a dollar, and more than ten times its reservation. The cost is booked. The entry follows the `OpStateChanged` of its completion.',
    '`actual_micros`, `reserved_micros`.',
  ],
  BudgetCorrected: [
    'Somebody corrected the amount settled today and this month, in a tier and all above it.',
    '`tier`, `amount_micros`, `day_amount_micros` (the part that changed the day), `booked` (the day); over HTTP `request_id`. Amounts beyond 2^53 are strings of digits.',
  ],
  BudgetDayMovedBack: [
    'The clock had been ahead by more than two days and has been right for an hour. Budgets go back to its day, and all later bookings count for that day.',
    '`from`, `to` (days).',
  ],
  ApprovalRequested: [
    'People are asked whether an action may happen. The entry follows the `ActionPending` of the same check.',
    '`approval_id`, `cause` (`rule` or `budget`), `required` (how many must approve), `expires_at`, `cost_micros`, `digest`.',
  ],
  ApprovalVerdictGiven: [
    'One of several people who must approve has done so.',
    '`approval_id`, `approvers` (their ids so far), `required`; `self_approved`: `true` if the agent is the approver’s own; over HTTP `request_id`; by a link from a chat `via`: `chat_link`.',
  ],
  ApprovalGranted: [
    'Enough people have approved: the operation runs. The entry follows the `OpStateChanged` of the operation.',
    '`approval_id`, `approvers`, `required`, `request_id`; `self_approved`: `true` if the agent is an approver’s own; with a standing grant `grant`: `id`, `reach`, `expires_at`, and `run_id` if it is for a run. If the last verdict came by a link from a chat, `via`: `chat_link`.',
  ],
  ApprovalRejected: [
    'Somebody has rejected: the operation is terminated.',
    '`approval_id`, `approvers` (who had approved before), `required`, `request_id`; by a link from a chat `via`: `chat_link`.',
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
    'Retention removed the oldest entries, as its settings say.',
    '`through_seq`, `through_hash`: the last removed entry; `removed`: how many; `signature`: a JWS over the first two.',
  ],
  AuditEntriesLost: [
    'The log did not contain its newest anchored entry, and the gateway was started with `--accept-lost-entries`.',
    '`anchored_seq`, `anchored_hash`, `anchored_at`: the anchor. `head_seq`, `head_hash`: the newest entry that was there. `kept_seq`: the last unchanged entry, 0 if unknown. `key_known`: whether the store has the key that signed the anchor.',
  ],
  BackupCreated: [
    'Somebody has made a backup of the running gateway. It is written before the first byte leaves, so the backup itself does not contain it.',
    '`head_seq`, `head_hash`: the newest entry in the backup; `bytes`, `sha256`: of its file, as long as it is not encrypted; `request_id`.',
  ],
  BackupRestored: [
    'The first start after the store was restored from a backup. The log goes on after the newest entry of the backup; what came later is not in it.',
    '`backup_at`, `restored_at`; `head_seq`, `head_hash`: the newest entry of the backup; `sessions_ended`, `invites_removed`; `kid`: the key that signs from now on. Tokens of earlier keys are refused.',
  ],
};

const checkMembers = [
  'The payload of a check always has `action` (the request, with secrets replaced), `resource`, `digest`, `cost_micros` and `op_state`. It may also have:',
  '',
  '- `run_id` and `summary`;',
  '- `via`: the door that the action came through (`door`: `mcp`, `model` or `hook`) and the `name` of the server, upstream or host, as the agent says;',
  '- `claimed_caller`: the `caller_agent_id`, which nothing proves;',
  '- `observed`: what [observed documents](../guides/policies.md#observing-a-policy-before-it-decides) would have done otherwise;',
  '- `price`: where the price of the model comes from, if it decided `cost_micros`: `configured`, or `built in` and the day of the table;',
  '- `replay`: for a repeated check.',
].join('\n');

const moveMembers = [
  'The payload of an `OpStateChanged` may also have:',
  '',
  '- by a control: `control_id`, and `cause` if a suspension did it;',
  '- on completion: `outcome`, `detail`, `reserved_micros`, and, if it cost something, `booked`: the day of the booking; of a model call `input_tokens`, `output_tokens` and `cached_input_tokens`, as far as its agent has told them;',
  '- `cause` with the value `unchecked`, if the operation was registered and never checked.',
].join('\n');

/** Every type of entry: when it is written, and what its payload holds. */
export function auditEventsPage(): string {
  const types = (Object.keys(events) as EventType[]).sort((a, b) => (a < b ? -1 : 1));
  return page(
    'Audit events',
    'Each decision writes exactly one entry. Each other change of an operation, an agent, a key or the policies writes one, too. ' +
      'A malformed request writes none: nothing was judged.',
    'Where the log is [forwarded](../guides/audit-forwarding.md), an entry has the severity of its type; a denial is a warning, at least.',
    table(
      ['Event type', 'Severity', 'Written when', 'Payload'],
      types.map((type) => [code(type), eventSeverities[type], ...events[type]]),
    ),
    '## Members of a check',
    checkMembers,
    '## Members of a move',
    moveMembers,
    'The members of an entry are in [concepts](../concepts.md#audit-chain).',
  );
}
