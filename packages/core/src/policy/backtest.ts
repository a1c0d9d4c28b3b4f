import type { Principal } from '../access/principal.ts';
import { latestLogs } from '../audit/read-logs.ts';
import { knownPriceOf, priceOf } from '../budget/pricing.ts';
import type { Decision } from '../decision/answer.ts';
import type { RecordedDecision } from '../decision/recorded-decision.ts';
import { recordedDecision } from '../decision/recorded-decision.ts';
import { RecordedFacts } from '../decision/recorded-facts.ts';
import { isBudgetRule } from '../decision/refusal-reasons.ts';
import type { Governance } from '../governance.ts';
import type { AuditReader } from '../journal/store.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { BacktestSummary } from './backtest-tally.ts';
import { BacktestTally } from './backtest-tally.ts';
import type { Effect } from './document.ts';
import type { PolicySet, Verdict } from './policy-set.ts';
import { considerRules, decidingRule } from './trail.ts';

/** A recorded decision that the candidate would decide otherwise. */
export interface ChangedDecision {
  readonly recorded: RecordedDecision;
  /** What policy said: of what a budget refused, that is allow. */
  readonly was: Decision;
  readonly wouldBe: Decision;
  readonly wouldBeRule: string;
}

export type BacktestLine =
  | { readonly type: 'progress'; readonly examined: number; readonly changed: number; readonly share: number }
  | { readonly type: 'change'; readonly change: ChangedDecision }
  | ({ readonly type: 'result'; readonly from: EpochMs; readonly to: EpochMs } & BacktestSummary);

export interface BacktestPorts {
  readonly gov: Governance;
  readonly log: AuditReader;
  /** Lets whatever else waits be done. */
  readonly breathe: () => Promise<unknown>;
}

export interface BacktestRequest {
  readonly set: PolicySet;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly orgId?: string;
  readonly teamId?: string;
  readonly agentId?: string;
  /** How many changes are told one by one. */
  readonly changes: number;
}

const entriesPerPage = 250;
/** How long decisions may have to wait for a stretch of this, in milliseconds. */
const longestStretch = 1;
const progressEvery = 400;

/**
 * Judges what was decided between two times again, newest first, page by page and in short stretches: decisions that are
 * made meanwhile do not wait for it. Whoever reads decides how fast it goes, and ends it by reading no further.
 */
export async function* backtest(
  { gov, log, breathe }: BacktestPorts,
  by: Principal,
  { set, from, to, changes, ...scope }: BacktestRequest,
): AsyncGenerator<BacktestLine> {
  const tally = new BacktestTally();
  const head = gov.journal.head.seq;
  const reading = new Reading(from, to);
  let told = gov.clock.elapsed();
  let stretch = told;
  let before: number | null = head + 1;
  yield progress(tally, 0);
  while (before !== null) {
    const page: Awaited<ReturnType<typeof latestLogs>> = await latestLogs(log, by, {
      ...scope,
      from,
      to,
      before,
      limit: entriesPerPage,
    });
    stretch = gov.clock.elapsed();
    for (const entry of page.entries) {
      const recorded = recordedDecision(entry);
      const changed = recorded === undefined ? undefined : judgeAgain(gov, set, recorded, tally);
      if (recorded !== undefined) reading.at = recorded.at;
      if (changed !== undefined && tally.changed <= changes) yield { type: 'change', change: changed };
      if (gov.clock.elapsed() - stretch < longestStretch) continue;
      await breathe();
      stretch = gov.clock.elapsed();
    }
    before = page.next;
    await breathe();
    if (gov.clock.elapsed() - told < progressEvery) continue;
    told = gov.clock.elapsed();
    yield progress(tally, reading.share());
  }
  yield { type: 'result', from, to, ...tally.summary() };
}

/** How far it has come through the time that it looks at. */
class Reading {
  readonly #from: EpochMs;
  readonly #to: EpochMs;
  at: EpochMs;

  constructor(from: EpochMs, to: EpochMs) {
    this.#from = from;
    this.#to = to;
    this.at = to;
  }

  share(): number {
    const share = (this.#to - this.at) / Math.max(1, this.#to - this.#from);
    return Math.round(Math.min(1, Math.max(0, share)) * 1000) / 1000;
  }
}

function progress({ examined, changed }: BacktestTally, share: number): BacktestLine {
  return { type: 'progress', examined, changed, share };
}

function judgeAgain(
  gov: Governance,
  set: PolicySet,
  recorded: RecordedDecision,
  tally: BacktestTally,
): ChangedDecision | undefined {
  tally.examined++;
  const verdict = verdictAgain(gov, set, recorded);
  if (verdict === undefined) {
    tally.skipped++;
    return undefined;
  }
  const { effect, rule, asking } = verdict;
  const was = isBudgetRule(recorded.policyRule) ? 'allow' : recorded.decision;
  const wouldBe = decisions[effect];
  // A standing grant covers the rule that it was given for, while that allows grants.
  const mayCover = wouldBe === 'pending' && asking?.grants !== false;
  const covered = recorded.granted && mayCover && rule === recorded.policyRule;
  if (wouldBe === was || covered) return undefined;
  const changed = { recorded, was, wouldBe, wouldBeRule: rule };
  tally.add(changed);
  return changed;
}

/** What the set says of a decision; undefined where that depends on what is not recorded. */
function verdictAgain(
  gov: Governance,
  set: PolicySet,
  recorded: RecordedDecision,
): Pick<Verdict, 'effect' | 'rule' | 'asking'> | undefined {
  const { agent, action } = recorded;
  const facts = new RecordedFacts(recorded, gov.directory.find(agent)?.record, costUnder(set, recorded));
  const verdict = set.evaluate(agent, action, facts);
  if (!facts.lacking) return verdict;
  const rules = considerRules(set, agent, action, facts).filter(({ observed }) => !observed);
  if (!rules.some(({ unknown }) => unknown)) return verdict;
  // Whichever of the unknown ones match: a rule that is certain and as strong as any of them decides.
  const certain = decidingRule(rules);
  const most = decidingRule(rules.map((rule) => (rule.unknown ? { ...rule, matched: true } : rule)));
  if (certain === undefined || certain.effect !== most?.effect) return undefined;
  return { effect: certain.effect, rule: `${certain.document}/${certain.rule}` };
}

const decisions: Readonly<Record<Effect, Decision>> = { allow: 'allow', deny: 'deny', require_approval: 'pending' };

/** What it would cost by the candidate's prices, or by the agent's estimate where that is more. */
function costUnder(set: PolicySet, { action, costMicros, estimated }: RecordedDecision): number {
  if (action.type !== 'llm_call') return costMicros;
  if (!estimated) return priceOf(set.pricing, action) ?? 0;
  return Math.max(costMicros, knownPriceOf(set.pricing, action) ?? 0);
}
