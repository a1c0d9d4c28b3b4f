export type { Binding, HeldRole } from './access/index.ts';
export type { Access, ApiKeyRecord, IssuedToken, MadeKey, Principal, Role, Scope } from './access/index.ts';
export type { KnownSigningKeys, SigningKeyRecord, TokenClaims, TokenMint, Width } from './access/index.ts';
export type { Person, UnboundPrincipal } from './access/index.ts';
export type { IssuerSettings, Issuers, Proven, SubjectIssuer, TokenCheck, TokenVerifier } from './access/index.ts';
export type { TrustedIssuer } from './access/index.ts';
export { longestJwt, proveBy } from './access/index.ts';
export {
  accessFacts,
  Authenticator,
  Callers,
  EndedCredentials,
  KeyRing,
  SigningKeyRing,
  TicketRegistry,
} from './access/index.ts';
export { apiKeysTable, authenticateTicket, createKey, exchangeToken } from './access/index.ts';
export {
  installFirstKey,
  listKeys,
  newTicket,
  parseApiKey,
  redeemTicket,
  replaceLostKey,
  ticketTtlMs,
} from './access/index.ts';
export type { IssuedTicket, Tickets } from './access/index.ts';
export {
  requireScope,
  requireUnbound,
  revokeKey,
  makeSigningKey,
  roles,
  rotateKey,
  rotateSigningKey,
} from './access/index.ts';
export { scopes, signingKeysTable, widths } from './access/index.ts';
export type { Identity, MadeOwner, OidcPerson, OidcRules, OwnerPorts, RoleRule, SignIn } from './accounts/index.ts';
export { createOwner, logInWithOidc, makeCliCode, openCliSession, requirePasswords } from './accounts/index.ts';
export { noPassword, noteFailedSignOn, signIns } from './accounts/index.ts';
export { accountsTable, attemptsTable, identitiesTable, invitesTable, lettersTable } from './accounts/index.ts';
export { outboxTable, refreshTokensTable, sentTokensTable, sessionsTable } from './accounts/index.ts';
export type { SignOnAnswer, SignOnProvider, SignOnSecrets } from './accounts/index.ts';
export type { Account, AccountRows, AccountStore, Accounts, AccountsAccess, Attempts } from './accounts/index.ts';
export type {
  Invite,
  MadeInvite,
  Origin,
  OutboxEntry,
  Page,
  PageCursor,
  PasswordHasher,
  PostOffice,
} from './accounts/index.ts';
export type { QueuedLetter, RefreshToken, RegistrationState, SentToken, Session } from './accounts/index.ts';
export { acceptInvite, changeAccount, changePassword, confirmReset, createInvite } from './accounts/index.ts';
export {
  deliverMail,
  findAccount,
  findAccountsIn,
  findApprover,
  findLoginIn,
  findRolesIn,
  invalidToken,
} from './accounts/index.ts';
export { keepAccounts, listAccounts, parseEmail } from './accounts/index.ts';
export { listInvites, listSessions, logIn, logOut, normalisePassword, passwordBounds } from './accounts/index.ts';
export {
  recordRestore,
  refresh,
  register,
  registrationState,
  requestReset,
  requireLogin,
  resendInvite,
} from './accounts/index.ts';
export { revokeInvite, revokeSession } from './accounts/index.ts';
export type { SessionGrant } from './accounts/index.ts';
export type { Approval, ApprovalEvent, ApprovalNotice, ApprovalQuery, ApprovalReader } from './approvals/index.ts';
export type { ApprovalState, Found, GrantQuery, GrantWish, Listed, PageEnd } from './approvals/index.ts';
export { ApprovalRegistry, approvalsTable, boundedApproval, boundedGrant, deciderMark } from './approvals/index.ts';
export { expireApprovals, findApproval, grantStateOf, grantsTable, isSelfApproved } from './approvals/index.ts';
export { approversWords, readApprover, refusalOfVerdict } from './approvals/index.ts';
export {
  listApprovals,
  listGrants,
  noteNotified,
  owingNotices,
  restoreApprovals,
  sortedBy,
} from './approvals/index.ts';
export type { StandingGrant } from './approvals/index.ts';
export type {
  AuditPage,
  AuditQuery,
  AuditReader,
  ChainHead,
  Decision,
  Json,
  Lineage,
  SealedEntry,
} from './audit/index.ts';
export type { PeoplePage, PeopleQuery, PeopleReader, SeenPerson, Severity, StoredEntry } from './audit/index.ts';
export type { UserRunsPage, UserRunsQuery } from './audit/index.ts';
export {
  entryJson,
  EntryPage,
  ReadEntry,
  emptyChain,
  eventSeverities,
  mayBeSameEntry,
  mostAgentsOfPerson,
  redactText,
  sealer,
  system,
} from './audit/index.ts';
export type { LogFilter, LostEntries, MadeBackup, PeopleFilter, PeoplePlace, SearchedEntry } from './logs/index.ts';
export {
  acceptLostEntries,
  asksForAll,
  cutLog,
  emailKey,
  entriesTable,
  fitsQuery,
  holdsText,
  lastBackupAt,
  lastCut,
  latestLogs,
  listPeople,
  oldestLogs,
  recordBackup,
  rememberBackup,
} from './logs/index.ts';
export type { Action, ActionType, CheckRequest, Door, RawCheckRequest, User, Via } from './action/index.ts';
export { action, actionTypes, parseCheckRequest, userFrom } from './action/index.ts';
export type { Answer, BroughtMoment, JudgedResult, RecordedDecision, ResultJudge } from './decision/index.ts';
export type { ResultPorts, ResultToJudge } from './decision/index.ts';
export type { StreamedRequest } from './decision/index.ts';
export { asLogged, checkResult, costAside, judgeResult, longestResult, resultDutyOf } from './decision/index.ts';
export { judgeStreamed } from './decision/index.ts';
export {
  DecisionTally,
  chargeOf,
  checkAction,
  checkActions,
  checkProven,
  limitTold,
  longestStretch,
  mostUnderWay,
  proveAsker,
} from './decision/index.ts';
export type { Charge, RewrittenCall } from './decision/index.ts';
export { judgeCall, labelsOfCall, listRates, previewTools, weighBudgets, weighRates } from './decision/index.ts';
export type { RateRow } from './decision/index.ts';
export { OpsCheckpoint, boundedOp, expireUnchecked, inFlight, listOps, opsTable } from './ops/index.ts';
export { evidenceOf, readOp, receiptStatuses, recordOf, sweepOps } from './ops/index.ts';
export { ReeveError, approximateUsd, checkCost, invalid, longest, messageOf, microsOfUsd } from './kernel/index.ts';
export {
  mostBytesOfAnnotations,
  mostBytesOfPage,
  parseUsd,
  plus,
  timestamp,
  toldReason,
  totalJson,
  usdOfMicros,
} from './kernel/index.ts';
export type { Micros, Range } from './kernel/index.ts';
export { usualMostActionMicros } from './kernel/index.ts';
export type { BacktestLine, Candidate, ChangedDecision, ConsiderAgain, EvaluationWorld } from './simulation/index.ts';
export type {
  JudgedAgain,
  Explanation,
  RecordedResult,
  SimulatedApprovals,
  SimulatedResult,
  Simulation,
} from './simulation/index.ts';
export type { BulkControl, ControlMessage, ControlReader, ControlReport, ControlResult } from './control/index.ts';
export type { ControlScope, ControlSequence, ControlSink, ControlSubscription } from './control/index.ts';
export type { OnControlStep, ScopeRequest } from './control/index.ts';
export { ControlRegistry, ReservationReaper, StaleWatch, bulksTable } from './control/index.ts';
export { readControl, receiptsTable, sequencesTable, subscribeControl } from './control/index.ts';
export type { RunControl } from './control/index.ts';
export { listRunControls, runControlPlace, timeOutControls } from './control/index.ts';
export type { FoundUserRuns, RunDetails, ShownRun } from './control/index.ts';
export { findUserRuns, listRuns, placeInList, readRun } from './control/index.ts';
export {
  forgetDepartures,
  forgetEndedDelegations,
  LeftAgentsSweep,
  listSuspensions,
  mayKnowOperations,
  settleSuspensions,
  suspensionPlace,
} from './control/index.ts';
export type { AckOutcome, ControlAction, Op, OpRecord, OpState, OpUsage, Outcome, Receipt } from './ops/index.ts';
export type { ReceiptStatus, SavedOp } from './ops/index.ts';
export type { EventFilter } from './events/index.ts';
export { EventLog, agentOf, countIds, eventsFor } from './events/index.ts';
export type { Execute } from './commands.ts';
export { executorOf } from './commands.ts';
export type { Governance } from './governance.ts';
export type { GovernancePorts } from './governance.ts';
export { emptyGovernance } from './governance.ts';
export type { Agent, AgentChange, AgentRecord, AgentUsage, ScopeSuspension, Tree } from './tenancy/index.ts';
export { factsNeededFrom, recover } from './recover.ts';
export type { Batch, Commit, Change, DomainEvent, KeptFacts, ReadRow, Snapshot, Store } from './store.ts';
export type { LoadedAccess } from './store.ts';
export { loadAccess, loadSnapshot, readings, unreadDescents } from './store.ts';
export type { Fact } from './facts.ts';
export { factsOn, touchOf, writesOf } from './facts.ts';
export type { Column, Mark, Prune, Push, Reading, Row, RowCondition, Table, Value, Write } from './journal/index.ts';
export { factsWith } from './journal/index.ts';
export type { ForeignCommit, Sharing, Step, Touched, Unread } from './journal/index.ts';
export {
  EventBus,
  everything,
  HeadMoved,
  Journal,
  idsReserved,
  marksTable,
  numberIn,
  optionalNumberIn,
} from './journal/index.ts';
export { ownWork, restoring } from './journal/index.ts';
export { GlobError, InexactNumber, isId, Listening, RecentMap } from './kernel/index.ts';
export { optionalTextIn, restoredAt, restoredFrom, textIn } from './journal/index.ts';
export type { BalanceKeeper } from './budget/index.ts';
export { Ledger, balancesTable, budgetPolicy, closedPeriodsTable } from './budget/index.ts';
export { correctBudget, followClock, listBudgets, noBudgets, readHistory } from './budget/index.ts';
export type { Label, LabelsGiven, OwedLabel, RunCount } from './runs/index.ts';
export { giveLabels, RunRegistry } from './runs/index.ts';
export { notingGroups, runOfAgent } from './decision/index.ts';
export { RateCounters, rateKey, tierKey, tiersOf, verifyBudgets } from './budget/index.ts';
export { ConditionError, Evaluation, NotRecorded, PolicyRegistry, PolicySet, ToolFacts } from './policy/index.ts';
export { UnknownFact, YamlReader } from './policy/index.ts';
export { acceptedBefore, alsoOfBudget, authorOf, bindingOfName, considerCall } from './policy/index.ts';
export { decisionCost, deletePolicy, describeProblem, describeScope, findPolicy } from './policy/index.ts';
export type { ListedPrice } from './policy/index.ts';
export { listPolicies, listPrices, loadPolicies, parsePolicies, parseScope, parseSource } from './policy/index.ts';
export { rulesIn } from './policy/index.ts';
export { plainSource, policySchema, policySetsTable, policyVersion, policyVersions } from './policy/index.ts';
export { policyVersionsTable, putPolicy, rejectPolicies, reviveSource, rollbackPolicy } from './policy/index.ts';
export { subjectOf, validatePolicy, waitOf, withWriters } from './policy/index.ts';
export {
  AgentDirectory,
  agentAfter,
  agentOfChange,
  agentsTable,
  credentialEnded,
  findAgent,
  heartbeat,
} from './tenancy/index.ts';
export {
  authenticateAgent,
  identifyByToken,
  isAgentChange,
  lineageOf,
  listAgents,
  teamOf,
  topologyStats,
} from './tenancy/index.ts';
export { ReportedTools, saveUses, treeUnder, uncoveredBy, unused } from './tenancy/index.ts';
export { endLapsedDelegations, isSuspended, nameOfScope, visibleAgents, withoutToken } from './tenancy/index.ts';
export type { BalanceDifference, CountedBalance, BudgetRow, BudgetVerification, ClosedPeriod } from './budget/index.ts';
export type { Period, SavedBalance, SavedRate, SpentWindow, TierOf } from './budget/index.ts';
export { agentKey } from './kernel/index.ts';
export type { AgentId, Clock, ErrorCode, Randomness, Total } from './kernel/index.ts';
export { MemoryAccountStore, MemoryStore } from './memory/index.ts';
export type { Letter, Mailer } from './mail/index.ts';
export { MailError } from './mail/index.ts';
export type { Asking, CompileCondition, CompileValue, Condition, ConditionAuthor } from './policy/index.ts';
export type { ConsideredRule, Facts, ValueExpression } from './policy/index.ts';
export type { Member, ParsedSource, PlacedPolicy, PlainSource, PolicyDocument } from './policy/index.ts';
export type { PolicyHistory, PolicyProblem, PolicySource, PolicyStore, PolicyVersion } from './policy/index.ts';
export type { FindPattern, PolicyFeatures, ResultCondition, ResultFacts } from './policy/index.ts';
export type { RunFacts, SpendFacts, StoredVersion, Subject, Verdict, VersionPage } from './policy/index.ts';
export { PastPolicies, agentsOf, backtest, candidateSet, considerAgain } from './simulation/index.ts';
export { explainDecision, judgeAgain, judgeSupposed, simulate } from './simulation/index.ts';
export type { Approvals } from './approvals/index.ts';
export type { Budgets } from './budget/index.ts';
export type { Controls } from './control/index.ts';
export type { Decisions } from './decision/index.ts';
export type { Operations } from './ops/index.ts';
export type { Policies, PoliciesState } from './policy/index.ts';
export type { Tenancy, WorkloadIssuer } from './tenancy/index.ts';
export { admitWorkload, findRegistered, matchWorkload, parseAgentTemplate, parseClaimMatch } from './tenancy/index.ts';
export type { EntryLog } from './audit/index.ts';
export type { AgentKey, Sha256 } from './kernel/index.ts';
export { isOver } from './ops/index.ts';
export type { DetectorName, FieldPath, Mask, MaskedResult } from './masking/index.ts';
export { detectorNames, maskResult, parseFieldPath, usualMask } from './masking/index.ts';
export type { Interned } from './replication/index.ts';
export { agentsIn } from './replication/index.ts';
export { commitText, factsText, followCommit, namedText, parseCommit, prepareToFollow } from './replication/index.ts';
export type { RunOperation } from './simulation/index.ts';
export { listRunOperations } from './simulation/index.ts';
