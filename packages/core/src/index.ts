export type { Access } from './access/access.ts';
export type { ApiKeyRecord } from './access/api-key.ts';
export { parseApiKey } from './access/api-key.ts';
export { authenticateTicket, redeemTicket } from './access/authenticate-ticket.ts';
export { Authenticator } from './access/authenticator.ts';
export type { Width } from './access/authority.ts';
export { widths } from './access/authority.ts';
export { EndedCredentials } from './access/ended-credentials.ts';
export type { IssuedToken } from './access/exchange-token.ts';
export { exchangeToken } from './access/exchange-token.ts';
export { followApiKey, followSigningKey } from './access/follow-keys.ts';
export { installFirstKey } from './access/install-key.ts';
export { KeyRing } from './access/key-ring.ts';
export type { MadeKey } from './access/manage-keys.ts';
export { createKey, listKeys, revokeKey, rotateKey } from './access/manage-keys.ts';
export type { Principal } from './access/principal.ts';
export { requireScope, requireUnbound } from './access/principal.ts';
export { rotateSigningKey } from './access/rotate-signing-key.ts';
export { scopes } from './access/scope.ts';
export type { Scope } from './access/scope.ts';
export type { SigningKeyRecord } from './access/signing-key.ts';
export { SigningKeyRing } from './access/signing-key.ts';
export { TicketBooth } from './access/tickets.ts';
export type { TokenClaims, TokenMint } from './access/token.ts';
export type { PasswordHasher } from './accounts/password-hasher.ts';
export { longestPassword, normalisePassword } from './accounts/password-rules.ts';
export type {
  Account,
  Attempts,
  Invite,
  QueuedLetter,
  RefreshToken,
  Role,
  SentToken,
  Session,
} from './accounts/account.ts';
export { roles } from './accounts/account.ts';
export type { AccountRows, AccountStore, OwedEntry, Page } from './accounts/account-store.ts';
export type { Accounts, Origin } from './accounts/accounts.ts';
export { acceptInvite } from './accounts/accept-invite.ts';
export type { PostOffice } from './accounts/deliver-mail.ts';
export { deliverMail } from './accounts/deliver-mail.ts';
export { listSessions, logOut, revokeSession } from './accounts/end-sessions.ts';
export { findLoginIn, findRolesIn } from './accounts/find-login.ts';
export type { MadeInvite } from './accounts/invites.ts';
export { createInvite, listInvites, resendInvite, revokeInvite } from './accounts/invites.ts';
export { keepAccounts } from './accounts/keep-accounts.ts';
export { logIn } from './accounts/log-in.ts';
export { changeAccount, findAccount, listAccounts } from './accounts/manage-accounts.ts';
export type { Grant } from './accounts/open-session.ts';
export { changePassword, confirmReset, requestReset } from './accounts/passwords.ts';
export { refresh } from './accounts/refresh.ts';
export { register } from './accounts/register.ts';
export type { RegistrationState } from './accounts/registration-state.ts';
export { registrationState } from './accounts/registration-state.ts';
export { requireLogin } from './accounts/require-login.ts';
export type { Approval, ApprovalNotice, ApprovalState } from './approvals/approval.ts';
export { isLive } from './approvals/approval.ts';
export { ApprovalDesk } from './approvals/approval-desk.ts';
export type { ApprovalQuery, ApprovalReader, Found, GrantQuery, PageEnd } from './approvals/approval-reader.ts';
export { sortedBy } from './approvals/approval-reader.ts';
export { approveAction } from './approvals/approve-action.ts';
export { expireApprovals } from './approvals/expire-approvals.ts';
export { findApproval } from './approvals/find-approval.ts';
export type { GrantWish, StandingGrant } from './approvals/grant.ts';
export { grantStateOf } from './approvals/grant.ts';
export type { Listed } from './approvals/list-approvals.ts';
export { listApprovals, listGrants } from './approvals/list-approvals.ts';
export { noteNotified } from './approvals/note-notified.ts';
export { rejectAction } from './approvals/reject-action.ts';
export { restoreApprovals } from './approvals/restore-approvals.ts';
export { revokeGrant } from './approvals/revoke-grant.ts';
export type { ChainHead } from './audit/chain.ts';
export { emptyChain, sealer } from './audit/chain.ts';
export { auditEventTypes, system } from './audit/entry.ts';
export type { SealedEntry } from './audit/entry.ts';
export type { LostEntries } from './audit/accept-lost-entries.ts';
export { acceptLostEntries } from './audit/accept-lost-entries.ts';
export { cutLog, lastCut } from './audit/cut-log.ts';
export type { LogFilter } from './audit/read-logs.ts';
export { latestLogs, oldestLogs } from './audit/read-logs.ts';
export type { Action, ActionType } from './decision/action.ts';
export { action, actionTypes } from './decision/action.ts';
export type { Answer, Decision } from './decision/answer.ts';
export { chargeOf } from './decision/charge.ts';
export { EntryPage } from './audit/entry-page.ts';
export { boundedApproval, boundedGrant, boundedOp } from './journal/bounded-rows.ts';
export { longest, mostBytesOfPage } from './kernel/bounds.ts';
export { toldReason } from './kernel/text-size.ts';
export { checkAction, checkActions, longestStretch } from './decision/check-action.ts';
export type { CheckRequest, RawCheckRequest } from './decision/check-request.ts';
export type { RecordedDecision } from './decision/recorded-decision.ts';
export { DecisionTally } from './decision/decision-tally.ts';
export { checkCost, parseCheckRequest } from './decision/check-request.ts';
export {
  exceededReason,
  isToldAmounts,
  limitTold,
  overpricedReason,
  unpricedReason,
} from './decision/refusal-reasons.ts';
export { acknowledgeControl } from './control/acknowledge-control.ts';
export type { BulkControl, ControlReport, ControlScope } from './control/bulk-control.ts';
export type { OnControlStep } from './control/control-desk.ts';
export { ControlDesk } from './control/control-desk.ts';
export { controlOp } from './control/control-op.ts';
export type { ControlReader, ControlSequence } from './control/control-reader.ts';
export type { ScopeRequest } from './control/control-scope.ts';
export { controlScope } from './control/control-scope.ts';
export type { ControlMessage, ControlSink } from './control/mailbox.ts';
export { postMessage } from './control/post-message.ts';
export { readControl } from './control/read-control.ts';
export type { AckOutcome, ControlAction, Receipt, ReceiptStatus } from './control/receipt.ts';
export { receiptStatuses } from './control/receipt.ts';
export { releaseMessages } from './control/release-messages.ts';
export type { ControlResult } from './control/remembered-controls.ts';
export { restoreControl } from './control/restore-control.ts';
export { StaleWatch } from './control/stale-watch.ts';
export type { ControlSubscription } from './control/subscribe-control.ts';
export { subscribeControl } from './control/subscribe-control.ts';
export { timeOutControls } from './control/time-out-controls.ts';
export type { EventFilter } from './events/event-filter.ts';
export { agentOf, eventsFor } from './events/event-filter.ts';
export { EventLog } from './events/event-log.ts';
export type { Governance } from './governance.ts';
export type { Batch, Change, SavedOp } from './journal/change.ts';
export { Journal } from './journal/journal.ts';
export type { AuditPage, AuditQuery, AuditReader, Snapshot, Store, StoredEntry } from './journal/store.ts';
export { HeadMoved } from './journal/store.ts';
export { budgetPolicy, noBudgets } from './budget/budget-policy.ts';
export type { Books, ClosedBooks, SavedBooks } from './budget/books.ts';
export { BooksKeeper } from './budget/books-keeper.ts';
export type { BooksCheck, BooksDifference } from './budget/check-books.ts';
export { checkBooks } from './budget/check-books.ts';
export { correctBudget } from './budget/correct-budget.ts';
export { followClock } from './budget/follow-clock.ts';
export { LeaseWatch } from './budget/lease-watch.ts';
export type { Period } from './budget/period.ts';
export type { SpentWindow } from './budget/read-history.ts';
export { readHistory } from './budget/read-history.ts';
export { expireUnchecked } from './ops/expire-unchecked.ts';
export { Ledger } from './budget/ledger.ts';
export type { BooksMark } from './budget/recover-books.ts';
export { recoverBooks } from './budget/recover-books.ts';
export type { RunCount } from './budget/run-tally.ts';
export { RunTally } from './budget/run-tally.ts';
export type { TierOf } from './budget/tier.ts';
export { tierKey, tiersOf } from './budget/tier.ts';
export type { BudgetRow } from './budget/list-budgets.ts';
export { listBudgets } from './budget/list-budgets.ts';
export type { Total } from './budget/money.ts';
export {
  approximateUsd,
  microsOfUsd,
  parseUsd,
  plus,
  totalJson,
  totalOfJson,
  usdOfMicros,
  usualMostActionMicros,
} from './budget/money.ts';
export type { Clock } from './kernel/clock.ts';
export { timestamp } from './kernel/clock.ts';
export type { ErrorCode } from './kernel/errors.ts';
export { invalid, messageOf, ReeveError } from './kernel/errors.ts';
export type { ApprovalEvent, DomainEvent } from './kernel/events.ts';
export { EventBus } from './kernel/events.ts';
export type { Randomness } from './kernel/randomness.ts';
export { MemoryAccountStore } from './memory/memory-account-store.ts';
export type { Letter, Mailer } from './mail/mailer.ts';
export { MailError } from './mail/mailer.ts';
export { MemoryStore } from './memory/memory-store.ts';
export { OpsCheckpoint, sweepOps } from './ops/checkpoint.ts';
export { completeAction } from './ops/complete-action.ts';
export type { Outcome } from './ops/complete-op.ts';
export { completeOp } from './ops/complete-op.ts';
export { findOp, readOp } from './ops/find-op.ts';
export type { OpState } from './ops/lifecycle.ts';
export { listOps } from './ops/list-ops.ts';
export type { Op, OpRecord } from './ops/op.ts';
export { registerOp } from './ops/register-op.ts';
export { recoverOps } from './ops/recover-ops.ts';
export { OpsRegistry } from './ops/registry.ts';
export type { Asking } from './policy/asking-rules.ts';
export { alsoOfBudget, waitOf } from './policy/asking-rules.ts';
export type { BacktestLine } from './policy/backtest.ts';
export { backtest } from './policy/backtest.ts';
export type { Candidate } from './policy/candidate.ts';
export { candidateSet } from './policy/candidate.ts';
export type { CompileCondition, Condition, ConditionAuthor, Facts, RunFacts, SpendFacts } from './policy/condition.ts';
export { ConditionError, NotRecorded } from './policy/condition.ts';
export type { PolicyDocument, PolicyProblem } from './policy/document.ts';
export { describeProblem } from './policy/document.ts';
export { decisionCost, Evaluation } from './policy/evaluation.ts';
export type { EvaluationWorld } from './policy/evaluation-world.ts';
export type { ChangedDecision, JudgedAgain } from './policy/judge-again.ts';
export { agentsOf, judgeAgain } from './policy/judge-again.ts';
export type { PlainSource } from './policy/plain-source.ts';
export { plainSource, reviveSource } from './policy/plain-source.ts';
export { loadPolicies, rejectPolicies } from './policy/load-policies.ts';
export { bindingOfName } from './policy/document-name.ts';
export { describeScope, parseScope } from './policy/parse-scope.ts';
export type { PolicyHistory, PolicySetRecord } from './policy/policy-history.ts';
export { setsKept } from './policy/policy-history.ts';
export { policySchema } from './policy/policy-schema.ts';
export { deletePolicy } from './policy/store/delete-policy.ts';
export { findPolicy } from './policy/store/find-policy.ts';
export { followPolicy } from './policy/store/follow-policy.ts';
export type { VersionPage } from './policy/store/list-policies.ts';
export { listPolicies, policyVersions } from './policy/store/list-policies.ts';
export type { PlacedPolicy } from './policy/store/policy-library.ts';
export { acceptedBefore, PolicyLibrary } from './policy/store/policy-library.ts';
export type { PolicyShelf, PolicyVersion } from './policy/store/policy-version.ts';
export { versionsKept } from './policy/store/policy-version.ts';
export { putPolicy } from './policy/store/put-policy.ts';
export { rollbackPolicy } from './policy/store/rollback-policy.ts';
export { validatePolicy } from './policy/store/validate-policy.ts';
export type { ParsedSource, PolicySource } from './policy/parse-policy.ts';
export { parsePolicies } from './policy/parse-policy.ts';
export { parseSource } from './policy/parse-source.ts';
export { PolicySet, policyVersion } from './policy/policy-set.ts';
export type { ConsiderAgain } from './policy/explain-decision.ts';
export { considerAgain, explainDecision } from './policy/explain-decision.ts';
export { PastPolicies } from './policy/past-policies.ts';
export type { SimulatedApprovals, Simulation } from './policy/simulate.ts';
export { simulate } from './policy/simulate.ts';
export type { ConsideredRule } from './policy/trail.ts';
export { considerRules } from './policy/trail.ts';
export type { Subject } from './policy/subject.ts';
export { subjectOf } from './policy/subject.ts';
export type { Member } from './policy/yaml-reader.ts';
export { YamlReader } from './policy/yaml-reader.ts';
export type { Agent, AgentRecord } from './tenancy/agent.ts';
export type { Lineage } from './tenancy/lineage.ts';
export type { AgentId } from './tenancy/agent-id.ts';
export { deregisterAgent } from './tenancy/deregister-agent.ts';
export { AgentDirectory } from './tenancy/directory.ts';
export { findAgent } from './tenancy/find-agent.ts';
export { followAgent } from './tenancy/follow-agent.ts';
export { heartbeat } from './tenancy/heartbeat.ts';
export { listAgents } from './tenancy/list-agents.ts';
export { registerAgent } from './tenancy/register-agent.ts';
export { resumeAgent, suspendAgent } from './tenancy/suspend-agent.ts';
export type { Tree } from './tenancy/topology.ts';
export { inFlight, lineageOf, teamOf, topologyStats, treeUnder, visibleAgents } from './tenancy/topology.ts';
