export type { AgentBounds } from './compact-agent.ts';
export { usualAgentBounds } from './agent-bounds.ts';
export type { Agent, AgentRecord, FormerToken, Suspension, TokenLife } from './agent.ts';
export { actorOf, findRegistered, isRegistered, tokenEnd, unregisteredAgent } from './agent.ts';
export type { AgentUsage, Family } from './agent-coverage.ts';
export { AgentCoverage, uncoveredBy, unused } from './agent-coverage.ts';
export type { DelegateRequest, GrantedDelegation } from './delegate-agent.ts';
export { delegateAgent } from './delegate-agent.ts';
export type { Delegation, DelegationChange } from './delegation.ts';
export { delegateOfChange, newForMs, usedBy } from './delegation.ts';
export type { Link } from './delegation-links.ts';
export {
  agentsUnder,
  grantsUnder,
  hasLapsed,
  isHeldAbove,
  linksOf,
  registeredBy,
  requireReadInFull,
  unreadBehind,
  usedUp,
} from './delegation-links.ts';
export type { EndDelegation, RevokeDelegationRequest } from './end-delegation.ts';
export { endDelegationOf, endLapsedDelegations, revokeDelegation } from './end-delegation.ts';
export type { DeregisterRequest } from './deregister-agent.ts';
export { deregisterAgent } from './deregister-agent.ts';
export type { KnownAgents } from './directory.ts';
export { AgentDirectory } from './directory.ts';
export { reportName, tokenName, watchedAgents, watchedReports } from './watched-agents.ts';
export type { Identity } from './identify.ts';
export {
  agentWarrant,
  authenticateAgent,
  credentialEnded,
  findAgent,
  heartbeat,
  identify,
  identifyByToken,
} from './identify.ts';
export { isSuspended, lastingProof, provenAgent, touchAgent } from './identify.ts';
export type { RegisterRequest, Registration } from './register-agent.ts';
export { registerAgent } from './register-agent.ts';
export type { RenewedToken, RenewRequest } from './renew-token.ts';
export { renewToken } from './renew-token.ts';
export type { ReportToolsRequest } from './report-tools.ts';
export { reportTools } from './report-tools.ts';
export { ReportedTools } from './reported-tools.ts';
export type { Hold, ScopeSuspension, TenantScope } from './scope-suspensions.ts';
export { areRelated, isWithin, nameOfScope } from './scope-suspensions.ts';
export { suspensionsTable } from './suspensions-rows.ts';
export type { SuspensionChange, SuspensionEvent, SuspensionsSnapshot } from './suspensions-slice.ts';
export { saveUses } from './save-uses.ts';
export { storedTenancy, tenancyFacts } from './tenancy-facts.ts';
export { agentsTable, agentUsesTable, delegationsTable } from './tenancy-rows.ts';
export type { AgentChange, AgentEvent, AgentUseChange, TenancySnapshot } from './tenancy-slice.ts';
export { agentAfter, agentOfChange, isAgentChange, withoutToken } from './tenancy-slice.ts';
export type { Agents, Leaving, Tenancy, TenancyReactions } from './tenancy.ts';
export { admitToCheck, admitWorkload } from './admit-workload.ts';
export type { ClaimMatch, WorkloadIssuer, WorkloadMatch } from './workload-entry.ts';
export { matchWorkload, parseAgentTemplate, parseClaimMatch } from './workload-entry.ts';
export type { Shown, WorkloadProof } from './workloads.ts';
export { Workloads } from './workloads.ts';
export type { TenantFilter, Tree } from './topology.ts';
export { lineageOf, listAgents, teamOf, topologyStats, treeUnder, visibleAgents, visibleLeft } from './topology.ts';
