export type { Access } from './access/access.ts';
export type { ApiKeyRecord } from './access/api-key.ts';
export { parseApiKey } from './access/api-key.ts';
export { authenticateTicket, redeemTicket, TicketRegistry } from './access/tickets.ts';
export { Authenticator } from './access/authenticator.ts';
export type { Width } from './access/authority.ts';
export { widths } from './access/authority.ts';
export { EndedCredentials } from './access/access.ts';
export type { IssuedToken } from './access/exchange-token.ts';
export { exchangeToken } from './access/exchange-token.ts';
export { KeyRing } from './access/key-ring.ts';
export {
  followApiKey,
  followSigningKey,
  installFirstKey,
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  rotateSigningKey,
} from './access/manage-keys.ts';
export type { MadeKey } from './access/manage-keys.ts';
export type { Principal, Scope, Role } from './access/principal.ts';
export { requireScope, requireUnbound, scopes, roles } from './access/principal.ts';
export type { SigningKeyRecord, TokenClaims, TokenMint } from './access/signing-key.ts';
export { SigningKeyRing } from './access/signing-key.ts';
export type { PasswordHasher, AccountsAccess, Accounts, Origin } from './accounts/accounts.ts';
export { longestPassword, normalisePassword } from './accounts/password-rules.ts';
export type { Account, Attempts, Invite, QueuedLetter, RefreshToken, SentToken, Session } from './accounts/account.ts';
export type { AccountRows, AccountStore, OwedEntry, Page } from './accounts/account-store.ts';
export { acceptInvite, createInvite, listInvites, resendInvite, revokeInvite } from './accounts/invites.ts';
export type { PostOffice } from './accounts/deliver-mail.ts';
export { deliverMail } from './accounts/deliver-mail.ts';
export { listSessions, logOut, revokeSession } from './accounts/sessions.ts';
export { findLoginIn, findRolesIn, register, registrationState } from './accounts/register.ts';
export type { MadeInvite } from './accounts/invites.ts';
export { keepAccounts, changeAccount, findAccount, listAccounts } from './accounts/manage-accounts.ts';
export { logIn } from './accounts/log-in.ts';
export type { SessionGrant } from './accounts/sessions.ts';
export { changePassword, confirmReset, requestReset } from './accounts/passwords.ts';
export { refresh } from './accounts/refresh.ts';
export type { RegistrationState } from './accounts/register.ts';
export { requireLogin } from './accounts/accounts.ts';
export type { Approval, ApprovalNotice, ApprovalState, GrantWish } from './approvals/approval.ts';
export { ApprovalRegistry } from './approvals/approval-registry.ts';
export type { ApprovalQuery, ApprovalReader, Found, GrantQuery, PageEnd } from './approvals/approval-reader.ts';
export { sortedBy } from './approvals/approval-reader.ts';
export { expireApprovals, noteNotified } from './approvals/settle-approval.ts';
export { findApproval, listApprovals, listGrants } from './approvals/list-approvals.ts';
export type { StandingGrant } from './approvals/grant.ts';
export { grantStateOf } from './approvals/grant.ts';
export type { Listed } from './approvals/list-approvals.ts';
export { restoreApprovals } from './approvals/restore-approvals.ts';
export type { ChainHead } from './audit/chain.ts';
export { emptyChain, sealer } from './audit/chain.ts';
export { auditEventTypes, system } from './audit/entry.ts';
export type { SealedEntry, Decision, Lineage } from './audit/entry.ts';
export type { LostEntries, LogFilter } from './logs/logs.ts';
export { acceptLostEntries, cutLog, lastCut, latestLogs, oldestLogs, entriesTable } from './logs/logs.ts';
export type { Action, ActionType } from './action/action.ts';
export { action, actionTypes } from './action/action.ts';
export type { Answer } from './decision/answer.ts';
export { chargeOf, limitTold, weighBudgets } from './decision/weigh-budgets.ts';
export { EntryPage } from './audit/audit-reader.ts';
export { boundedApproval, boundedGrant } from './approvals/approvals-slice.ts';
export { boundedOp } from './ops/ops-slice.ts';
export { longest, mostBytesOfPage, toldReason } from './kernel/bounds.ts';
export { checkAction, checkActions, longestStretch } from './decision/check-action.ts';
export type { CheckRequest, RawCheckRequest } from './action/check-request.ts';
export type { RecordedDecision } from './simulation/recorded-decision.ts';
export { DecisionTally } from './decision/decision-tally.ts';
export { parseCheckRequest } from './action/check-request.ts';
export {
  checkCost,
  approximateUsd,
  microsOfUsd,
  parseUsd,
  plus,
  totalJson,
  usdOfMicros,
  usualMostActionMicros,
} from './kernel/money.ts';
export type { BulkControl, ControlReport, ControlScope, ControlResult } from './control/bulk-control.ts';
export type { OnControlStep } from './control/control-registry.ts';
export { ControlRegistry } from './control/control-registry.ts';
export type { ControlReader, ControlSequence } from './control/control-slice.ts';
export type { ScopeRequest } from './control/control-scope.ts';
export type { ControlMessage, ControlSink } from './control/outbox.ts';
export { readControl } from './control/read-control.ts';
export type { AckOutcome, ControlAction, Receipt, ReceiptStatus } from './ops/receipt.ts';
export { receiptStatuses } from './ops/receipt.ts';
export { restoreControl, timeOutControls } from './control/receipts.ts';
export { StaleWatch, ReservationReaper } from './control/liveness.ts';
export type { ControlSubscription } from './control/messages.ts';
export { subscribeControl } from './control/messages.ts';
export type { EventFilter } from './events/event-filter.ts';
export { agentOf, eventsFor } from './events/event-filter.ts';
export { EventLog } from './events/event-log.ts';
export type { Command } from './commands.ts';
export { execute } from './commands.ts';
export type { Governance } from './governance.ts';
export { governanceOf } from './governance.ts';
export type { AgentChange } from './tenancy/tenancy-slice.ts';
export type { SavedOp } from './ops/ops-slice.ts';
export type { Batch, Change, Snapshot, Store, DomainEvent } from './store.ts';
export { loadSnapshot, readings, writesOf } from './store.ts';
export type { Column, Mark, Prune, Push, Reading, Row, RowCondition, Table, Value, Write } from './journal/rows.ts';
export { marksTable, numberIn, optionalNumberIn, textIn } from './journal/rows.ts';
export { apiKeysTable, makerIn, signingKeysTable } from './access/access-rows.ts';
export { approvalsTable, grantsTable } from './approvals/approvals-rows.ts';
export { balancesTable, closedPeriodsTable } from './budget/budget-rows.ts';
export { bulksTable, receiptsTable, sequencesTable } from './control/control-rows.ts';
export { opsTable } from './ops/ops-rows.ts';
export { policySetsTable, policyVersionsTable } from './policy/policy-rows.ts';
export { agentsTable } from './tenancy/tenancy-rows.ts';
export { Journal, HeadMoved } from './journal/journal.ts';
export type { AuditPage, AuditQuery, AuditReader, StoredEntry } from './audit/audit-reader.ts';
export { budgetPolicy, noBudgets } from './budget/budget-policy.ts';
export type { Balance, ClosedPeriod, SavedBalance } from './budget/balance.ts';
export { BalanceKeeper, followClock } from './budget/balance-keeper.ts';
export type { BudgetVerification, BalanceDifference } from './budget/verify-budgets.ts';
export { verifyBudgets } from './budget/verify-budgets.ts';
export { correctBudget } from './budget/correct-budget.ts';
export type { Period } from './budget/period.ts';
export type { SpentWindow, BudgetRow } from './budget/read-budgets.ts';
export { readHistory, listBudgets } from './budget/read-budgets.ts';
export { expireUnchecked } from './ops/register-op.ts';
export { Ledger } from './budget/ledger.ts';
export { recoverBalances } from './budget/recover-balances.ts';
export type { RunCount } from './budget/run-tally.ts';
export { RunTally } from './budget/run-tally.ts';
export type { TierOf } from './budget/tier.ts';
export { tierKey, tiersOf } from './budget/tier.ts';
export type { Total } from './kernel/money.ts';
export type { Clock } from './kernel/clock.ts';
export { timestamp } from './kernel/clock.ts';
export type { ErrorCode } from './kernel/errors.ts';
export { invalid, messageOf, ReeveError } from './kernel/errors.ts';
export type { ApprovalEvent } from './approvals/approvals-slice.ts';
export { EventBus } from './journal/event-bus.ts';
export type { Randomness } from './kernel/ports.ts';
export { MemoryAccountStore } from './memory/memory-account-store.ts';
export type { Letter, Mailer } from './mail/mailer.ts';
export { MailError } from './mail/mailer.ts';
export { MemoryStore } from './memory/memory-store.ts';
export { OpsCheckpoint, sweepOps } from './ops/checkpoint.ts';
export type { Outcome } from './ops/complete-op.ts';
export { readOp, listOps, inFlight } from './ops/find-ops.ts';
export type { OpState, Op, OpRecord } from './ops/op.ts';
export { recoverOps } from './ops/recover-ops.ts';
export { OpsRegistry } from './ops/registry.ts';
export type { Asking } from './policy/asking-rules.ts';
export { alsoOfBudget, waitOf } from './policy/asking-rules.ts';
export type { BacktestLine } from './simulation/backtest.ts';
export { backtest } from './simulation/backtest.ts';
export type { Candidate, EvaluationWorld } from './simulation/candidate.ts';
export { candidateSet, PastPolicies } from './simulation/candidate.ts';
export type { CompileCondition, Condition, ConditionAuthor, Facts, RunFacts, SpendFacts } from './policy/condition.ts';
export { ConditionError, NotRecorded, decisionCost, Evaluation } from './policy/condition.ts';
export type { PolicyDocument, PolicyProblem } from './policy/document.ts';
export { describeProblem, bindingOfName, authorOf, describeScope, parseScope } from './policy/document.ts';
export type { ChangedDecision, JudgedAgain } from './simulation/judge-again.ts';
export { agentsOf, judgeAgain } from './simulation/judge-again.ts';
export type { PlainSource } from './policy/plain-source.ts';
export { plainSource, reviveSource } from './policy/plain-source.ts';
export { loadPolicies, rejectPolicies } from './policy/load-policies.ts';
export type {
  PolicyHistory,
  PolicyStore,
  PolicyVersion,
  StoredVersion,
} from './policy/store/policy-version.ts';
export { policySchema } from './policy/policy-schema.ts';
export { deletePolicy, putPolicy, rollbackPolicy, validatePolicy } from './policy/store/change-policy.ts';
export { findPolicy, listPolicies, policyVersions } from './policy/store/find-policies.ts';
export { followPolicy } from './policy/store/store-version.ts';
export type { VersionPage } from './policy/store/find-policies.ts';
export type { PlacedPolicy } from './policy/store/policy-registry.ts';
export { acceptedBefore, PolicyRegistry } from './policy/store/policy-registry.ts';
export { withWriters } from './policy/store/writers-from-before.ts';
export type { ParsedSource, PolicySource } from './policy/parse-source.ts';
export { parsePolicies, parseSource } from './policy/parse-source.ts';
export { PolicySet, policyVersion } from './policy/policy-set.ts';
export type { ConsiderAgain } from './simulation/explain-decision.ts';
export { considerAgain, explainDecision } from './simulation/explain-decision.ts';
export type { SimulatedApprovals, Simulation } from './simulation/simulate.ts';
export { simulate } from './simulation/simulate.ts';
export type { ConsideredRule } from './policy/trail.ts';
export { considerRules } from './policy/trail.ts';
export type { Subject } from './policy/subject.ts';
export { subjectOf } from './policy/subject.ts';
export type { Member } from './policy/yaml-reader.ts';
export { YamlReader } from './policy/yaml-reader.ts';
export type { Agent, AgentRecord } from './tenancy/agent.ts';
export { agentAfter, agentOfChange, isAgentChange, withoutToken } from './tenancy/tenancy-slice.ts';
export type { AgentId } from './kernel/ids.ts';
export { AgentDirectory } from './tenancy/directory.ts';
export { findAgent, heartbeat } from './tenancy/identify.ts';
export { followAgent } from './control/suspend-agent.ts';
export { listAgents, lineageOf, teamOf, topologyStats, treeUnder, visibleAgents } from './tenancy/topology.ts';
export type { Tree } from './tenancy/topology.ts';
