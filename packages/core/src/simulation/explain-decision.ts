import type { Principal } from '../access/index.ts';
import type { AuditReader, Decision, Json } from '../audit/index.ts';
import type { Decisions, RecordedDecision } from '../decision/index.ts';
import {
  controlRule,
  delegationRule,
  isBudgetRule,
  isOmission,
  recordedDecision,
  RecordedFacts,
} from '../decision/index.ts';
import type { EpochMs, NamedOp } from '../kernel/index.ts';
import { agentKey, ambiguousOp, parseOpPath, ReeveError } from '../kernel/index.ts';
import { latestLogs } from '../logs/index.ts';
import { readerOf, RewrittenFacts, strength, considerCall, decides } from '../policy/index.ts';
import type { PolicySet, ConsideredRule, DecidingRule } from '../policy/index.ts';
import type { AgentRecord } from '../tenancy/index.ts';
import { findRegistered } from '../tenancy/index.ts';
import type { RecordedResult, ResultsOfOp } from './judged-results.ts';
import { judgedResults } from './judged-results.ts';

export interface Explanation {
  readonly opId: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  readonly at: EpochMs;
  /** What rules made of the arguments, as the log has it. Undefined if nothing. */
  readonly rewrittenArgs: Json | undefined;
  /** Whether rules on results could match what the operation brings back. */
  readonly judgeResult: boolean;
  /** The newest results of the operation that were judged, the newest first. */
  readonly results: readonly RecordedResult[];
  readonly rules: readonly ConsideredRule[];
  /** Remarks on the explanation. */
  readonly notes: readonly string[];
}

export interface ExplainPorts {
  readonly gov: Pick<Decisions, 'directory'>;
  readonly log: AuditReader;
  readonly consider: ConsiderAgain;
}

/** Judges a decision again by the policies of its time. Undefined if these are no longer known. */
export type ConsiderAgain = (
  by: Principal,
  recorded: RecordedDecision,
  agent: AgentRecord | undefined,
) => Promise<readonly ConsideredRule[] | undefined>;

/**
 * Why an operation was decided as it was: the recorded decision, judged again by the policies of its time. The two can
 * differ, because not everything is recorded. Then the record is right.
 */
export async function explainDecision(
  { gov, log, consider }: ExplainPorts,
  by: Principal,
  id: string,
): Promise<Explanation> {
  const recorded = await findDecision(log, by, id);
  const { opId, decision, reason, policyRule, policyVersion, at, rewrittenArgs } = recorded;
  const agent = findRegistered(gov.directory, recorded.agent)?.record;
  const considered = await consider(by, recorded, agent);
  const rules = recorded.delegated ? [...(considered ?? [])] : asRecorded(considered ?? [], recorded);
  const { judgeResult } = recorded;
  const judged = judgeResult ? await judgedResults(log, by, recorded) : noResults;
  const notes = [...notesOn(recorded, considered !== undefined, agent), ...notesOnResults(judged)];
  const { results } = judged;
  return { opId, decision, reason, policyRule, policyVersion, at, rewrittenArgs, judgeResult, results, rules, notes };
}

/** Every rule of the deciding set, judged again. */
export function considerAgain(
  set: PolicySet,
  by: Principal,
  recorded: RecordedDecision,
  agent: AgentRecord | undefined,
): readonly ConsideredRule[] {
  const facts = new RecordedFacts(recorded, agent, recorded.costMicros);
  const { agent: id, action, rewrittenArgs: args } = recorded;
  const rewritten = args === undefined || isOmission(args) ? undefined : new RewrittenFacts(facts, action, args);
  return considerCall(set, id, facts, rewritten, readerOf(by));
}

/** The rules as they must have been, given the rule that decided: no stronger one can have matched. */
function asRecorded(
  rules: readonly ConsideredRule[],
  { policyRule, byRate }: Pick<RecordedDecision, 'policyRule' | 'byRate'>,
): ConsideredRule[] {
  const isLimit = byRate || isBudgetRule(policyRule);
  const decided = rules.findIndex((rule) => !rule.observed && `${rule.document}/${rule.rule}` === policyRule);
  return rules.map((rule, index): ConsideredRule => {
    if (rule.observed) return rule;
    if (index === decided) return { ...rule, matched: true, unknown: false, why: whyDecided(rule) };
    if (
      !decides(rule) ||
      !(rule.matched || rule.unknown) ||
      !wouldHaveDecided(rule, index, { policyRule, isLimit }, decided, rules[decided])
    ) {
      return asksToo(rule, rules[decided]) ? { ...rule, why: `it asks, too: ${rule.why}` } : rule;
    }
    const why = rule.unknown ? rule.why : `judged again it would match (${rule.why})`;
    return { ...rule, matched: false, why: `${why}; it did not match then, or it would have decided` };
  });
}

/** If several rules ask, their strictest terms count together. */
function asksToo({ matched, effect }: ConsideredRule, decided: ConsideredRule | undefined): boolean {
  return matched && effect === 'require_approval' && decided?.effect === 'require_approval';
}

function whyDecided({ matched, why }: ConsideredRule): string {
  return matched ? `it decided: ${why}` : `it decided, as recorded; judged again: ${why}`;
}

function wouldHaveDecided(
  rule: DecidingRule,
  index: number,
  { policyRule, isLimit }: { readonly policyRule: string; readonly isLimit: boolean },
  decidedIndex: number,
  decided: ConsideredRule | undefined,
): boolean {
  if (decided !== undefined) {
    // A call whose caller cannot have its prompt masked is denied by that rule where no other denies.
    if (!decides(decided)) return rule.effect === 'deny';
    const difference = strength[rule.effect] - strength[decided.effect];
    return difference > 0 || (difference === 0 && index < decidedIndex);
  }
  if (policyRule === 'default') return true;
  // Budgets and rates come in only where no rule denies.
  return isLimit && rule.effect === 'deny';
}

function notesOn(recorded: RecordedDecision, isKnown: boolean, agent: AgentRecord | undefined): string[] {
  const { policyVersion, policyRule, at } = recorded;
  const notes: string[] = [];
  if (!isKnown) {
    notes.push(`the policies of version ${policyVersion} are not known any more, so their rules cannot be told`);
  }
  if (isBudgetRule(policyRule)) notes.push('no rule decided this: a budget did');
  if (recorded.byRate) notes.push('no rule decided this: a rate did; what it had counted then is not known any more');
  if (policyRule === controlRule) notes.push('no rule decided this: somebody had stopped the run');
  if (recorded.delegated) {
    notes.push(
      'the agent acted on behalf of others; these are the rules about the agent itself, and those about each of the others held as well',
    );
  }
  if (policyRule === delegationRule) notes.push('no rule decided this: the limits of a delegation did');
  if (recorded.redacted) {
    notes.push('secrets in the request are recorded as "[redacted]", and what looks at them is judged by that');
  }
  if (isOmission(recorded.rewrittenArgs)) notes.push('the rewritten arguments were too long to be recorded');
  if (recorded.argsOmitted) notes.push('the arguments were too long to be recorded');
  if (agent === undefined) {
    notes.push('the agent is not registered any more, so its name, framework and metadata are not known');
  } else if (agent.registeredAt > at) {
    notes.push('the agent was registered again since; its name, framework and metadata are the present ones');
  }
  return notes;
}

const noResults: ResultsOfOp = { results: [], isCut: false, isUnjudged: false };

function notesOnResults({ isCut, isUnjudged }: ResultsOfOp): string[] {
  return [
    ...(isUnjudged ? ['the operation was completed, and nobody had its result judged'] : []),
    ...(isCut ? ['only the newest results are told'] : []),
  ];
}

const perPage = 500;
/** An operation that was checked again and again has many entries. The search reads at most this many pages. */
const mostPages = 100;

/**
 * The newest decision about an operation, replays aside, among those the caller may see: `trace:span`, or
 * `org/team/agent/trace:span` with `-` for an empty org or team. It comes from the log, so operations that ended long
 * ago are found, too.
 */
export async function findDecision(log: AuditReader, by: Principal, id: string): Promise<RecordedDecision> {
  const asked = parseOpPath(id);
  const found = asked === undefined ? [] : await decisionsOf(log, by, asked);
  const [decision] = found;
  if (decision === undefined) throw new ReeveError('decision_not_found', `there is no decision about "${id}"`);
  if (found.length === 1) return decision;
  throw ambiguousOp(
    id,
    found.map(({ agent }) => agent),
  );
}

/** The newest decision of each agent that has an operation with this id. */
async function decisionsOf(log: AuditReader, by: Principal, { opId, agent }: NamedOp): Promise<RecordedDecision[]> {
  const found = new Map<string, RecordedDecision>();
  const filter = { opId, limit: perPage, ...(agent === undefined ? {} : { agentId: agent.agentId }) };
  let before: number | null | undefined;
  for (let page = 0; page < mostPages && before !== null; page++) {
    const { entries, next }: Awaited<ReturnType<typeof latestLogs>> = await latestLogs(
      log,
      by,
      before === undefined ? filter : { ...filter, before },
    );
    for (const entry of entries) {
      const decision = recordedDecision(entry);
      if (decision === undefined || found.has(agentKey(decision.agent))) continue;
      if (agent === undefined || agentKey(agent) === agentKey(decision.agent)) {
        found.set(agentKey(decision.agent), decision);
      }
    }
    if (agent !== undefined && found.size > 0) break;
    before = next;
  }
  return [...found.values()];
}
