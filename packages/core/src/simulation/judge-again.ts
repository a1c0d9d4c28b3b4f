import { knownPriceOf, priceOf } from '../budget/index.ts';
import type { Action } from '../action/index.ts';
import type { Decision, StoredEntry } from '../audit/index.ts';
import type { RecordedDecision } from '../decision/index.ts';
import {
  changeCall,
  controlRule,
  couldNotMask,
  isBudgetRule,
  mustBeRewritten,
  recordedDecision,
  RecordedFacts,
} from '../decision/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';
import type { AgentRecord } from '../tenancy/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Effect, PolicySet, Verdict } from '../policy/index.ts';
import { considerRules, decides, decidingRule, Evaluation, subjectOf } from '../policy/index.ts';

/** What the result says about a decision. The log has the rest. */
type ToldDecision = Pick<RecordedDecision, 'seq' | 'at' | 'opId' | 'agent' | 'resource' | 'policyRule'> & {
  readonly action: Pick<Action, 'type'>;
};

/** A recorded decision that the candidate would change. */
export interface ChangedDecision {
  readonly recorded: ToldDecision;
  /** What policy said. It counts as allow if a budget or a rate decided. */
  readonly was: Decision;
  readonly wouldBe: Decision;
  readonly wouldBeRule: string;
}

/** A recorded decision that was judged again. */
export interface JudgedAgain {
  readonly at: EpochMs;
  /** The record cannot be judged again. */
  readonly skipped: boolean;
  readonly changed: ChangedDecision | undefined;
}

type FindAgent = (id: AgentId) => AgentRecord | undefined;

/** Judges the decisions among entries of the log by another set. */
export function judgeAgain(set: PolicySet, entries: readonly StoredEntry[], find: FindAgent): JudgedAgain[] {
  return entries.flatMap((entry) => {
    const recorded = recordedDecision(entry);
    return recorded === undefined ? [] : [judgeOne(set, recorded, find)];
  });
}

/** The agents that the decisions among entries are about, without parsing each entry. */
export function agentsOf(entries: readonly StoredEntry[]): AgentId[] {
  const found = new Map<string, AgentId>();
  for (const { canonical } of entries) {
    // The lineage precedes the payload, and nothing before it can hold an unescaped quote.
    const lineage = /"lineage":\{[^{}]*\}/.exec(canonical)?.[0] ?? '';
    const id = {
      orgId: memberOf(lineage, 'org_id'),
      teamId: memberOf(lineage, 'team_id'),
      agentId: memberOf(lineage, 'agent_id'),
    };
    found.set(agentKey(id), id);
  }
  return [...found.values()];
}

function memberOf(lineage: string, name: string): string {
  return new RegExp(`"${name}":"([^"]*)"`).exec(lineage)?.[1] ?? '';
}

function judgeOne(set: PolicySet, recorded: RecordedDecision, find: FindAgent): JudgedAgain {
  const { at } = recorded;
  // An operator decided, whatever the policies said. Of a delegate, its delegators were judged as well.
  if (recorded.policyRule === controlRule || recorded.delegated) return { at, skipped: true, changed: undefined };
  const verdict = verdictAgain(set, recorded, find);
  if (verdict === undefined) return { at, skipped: true, changed: undefined };
  const { effect, rule, asking } = verdict;
  // How much was left of a cap or a rate is not judged again.
  const was = recorded.byRate || isBudgetRule(recorded.policyRule) ? 'allow' : recorded.decision;
  const wouldBe = decisions[effect];
  // A standing grant covers the rule that it was given for, while that rule allows grants.
  const mayCover = wouldBe === 'pending' && asking?.grants !== false;
  const covered = recorded.granted && mayCover && rule === recorded.policyRule;
  if (wouldBe === was || covered) return { at, skipped: false, changed: undefined };
  const { seq, opId, agent, resource, policyRule, action } = recorded;
  const told = { seq, at, opId, agent, resource, policyRule, action: { type: action.type } };
  return { at, skipped: false, changed: { recorded: told, was, wouldBe, wouldBeRule: rule } };
}

/** The set's verdict on a decision. Undefined if it depends on something that is not recorded. */
function verdictAgain(set: PolicySet, recorded: RecordedDecision, find: FindAgent): Verdict | undefined {
  const { agent, action } = recorded;
  const facts = new RecordedFacts(recorded, find(agent), costUnder(set, recorded));
  const verdict = set.evaluate(agent, action, facts);
  const asSent = facts.lacking ? certainVerdict(set, recorded, facts, verdict) : verdict;
  if (asSent === undefined) return undefined;
  const again = new RecordedFacts(recorded, find(agent), costUnder(set, recorded));
  const evaluation = new Evaluation(subjectOf(action, again.user()));
  const party = { agent: { record: again.agent }, facts: again };
  const { strictest } = changeCall(set, callOf(recorded), [party], asSent, evaluation);
  return again.lacking ? undefined : strictest;
}

/** The call of a decision. Nobody records what its caller could have passed on, unless that refused it. */
function callOf({ action, args, reason }: RecordedDecision) {
  const json = args === undefined ? '' : JSON.stringify(args);
  const canRewrite = reason !== mustBeRewritten;
  return { action: { ...action, json }, args, canRewrite, canMaskPrompt: !couldNotMask(reason) };
}

/** The verdict of rules that are as they were, whatever else is not recorded. Undefined if there is none. */
function certainVerdict(
  set: PolicySet,
  { agent, action }: RecordedDecision,
  facts: RecordedFacts,
  verdict: Verdict,
): Verdict | undefined {
  const rules = considerRules(set, agent, action, facts).filter((rule) => !rule.observed && decides(rule));
  if (!rules.some(({ unknown }) => unknown)) return verdict;
  // Whichever unknown rules match, a certain rule that is as strong as any of them decides.
  const certain = decidingRule(rules);
  const most = decidingRule(rules.map((rule) => (rule.unknown ? { ...rule, matched: true } : rule)));
  if (certain === undefined || certain.effect !== most?.effect) return undefined;
  const { reason, tier } = verdict;
  return { effect: certain.effect, rule: `${certain.document}/${certain.rule}`, reason, tier };
}

const decisions: Readonly<Record<Effect, Decision>> = { allow: 'allow', deny: 'deny', require_approval: 'pending' };

/** The cost by the candidate's prices, or the agent's estimate if that is higher. */
function costUnder(set: PolicySet, { action, costMicros, estimated }: RecordedDecision): number {
  if (action.type !== 'llm_call') return costMicros;
  if (!estimated) return priceOf(set.pricing, action) ?? 0;
  return Math.max(costMicros, knownPriceOf(set.pricing, action) ?? 0);
}
