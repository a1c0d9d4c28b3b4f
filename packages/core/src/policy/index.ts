export type { Asking } from './asking-rules.ts';
export { alsoOfBudget, approverKey, jointly, waitOf } from './asking-rules.ts';
export type { CompileCondition, CompileValue, Condition, ConditionAuthor, Facts, PeriodSpend } from './condition.ts';
export type { RunCounts, RunFacts, ValueExpression } from './condition.ts';
export type { FindPattern, PolicyFeatures, ResultCondition, ResultFacts, SpendFacts } from './condition.ts';
export { ConditionError, Evaluation, NotRecorded, UnknownFact, decisionCost } from './condition.ts';
export type {
  ApproverTerms,
  Effect,
  PolicyDocument,
  PolicyProblem,
  PolicyScope,
  ResultEffect,
  ResultRule,
} from './document.ts';
export { authorOf, bindingOfName, describeProblem, describeScope, mayReachScope, namespaceOf } from './document.ts';
export { parseScope, rulesIn } from './document.ts';
export { scopesAbove } from './scopes-above.ts';
export type { ResultVerdict } from './judge-result.ts';
export { labelsOfRules } from './labels-in-force.ts';
export type { ListedPrice } from './list-prices.ts';
export { listPrices } from './list-prices.ts';
export { loadPolicies, rejectPolicies } from './load-policies.ts';
export type { Observed } from './observed-documents.ts';
export type { ParsedSource, PolicySource } from './parse-source.ts';
export { parsePolicies, problemsOf } from './parse-policies.ts';
export { parseSource } from './parse-source.ts';
export type { PlainSource } from './plain-source.ts';
export { plainSource, reviveSource } from './plain-source.ts';
export type { Policies, PoliciesState } from './policies.ts';
export { readerOf } from './policies.ts';
export { policyFacts } from './policy-facts.ts';
export { policySetsTable, policyVersionsTable } from './policy-rows.ts';
export { policySchema } from './policy-schema.ts';
export type { Tier, Verdict } from './policy-set.ts';
export { PolicySet, policyVersion } from './policy-set.ts';
export type { PoliciesChange, PoliciesSnapshot, PolicyEvent } from './policy-slice.ts';
export type { RateInForce } from './rates-in-force.ts';
export { mostRatesOfCheck } from './rates-in-force.ts';
export type { CompiledRule } from './rule-index.ts';
export { strength } from './rule-index.ts';
export { deletePolicy, putPolicy, rollbackPolicy, validatePolicy } from './store/change-policy.ts';
export type { VersionPage } from './store/find-policies.ts';
export { findPolicy, listPolicies, policyVersions } from './store/find-policies.ts';
export type { PlacedPolicy } from './store/policy-registry.ts';
export { PolicyRegistry, acceptedBefore } from './store/policy-registry.ts';
export type { PolicyHistory, PolicyStore, PolicyVersion, StoredVersion } from './store/policy-version.ts';
export { preparePolicies } from './store/store-version.ts';
export { withWriters } from './store/writers-from-before.ts';
export type { Subject } from './subject.ts';
export { subjectOf, subjectOfRecord } from './subject.ts';
export { ToolFacts } from './tool-facts.ts';
export type { ChangedMember, JudgedAgent, RewrittenArgs } from './rewrite-args.ts';
export { RewrittenFacts, applyChanges, rewriteArgs } from './rewrite-args.ts';
export type { ConsideredRule, DecidingRule, MayRead } from './trail.ts';
export { considerCall } from './consider-call.ts';
export { considerResultRules, considerRules, decides, decidingRule } from './trail.ts';
export type { Member } from './yaml-reader.ts';
export { YamlReader } from './yaml-reader.ts';
