import { isDeepStrictEqual } from 'node:util';
import type { ConsideredRule, PolicyDocument } from '@reeve/core';
import { describeProblem, parsePolicies, PolicySet } from '@reeve/core';
import { policyFeatures } from '../adapters/cel/policy-features.ts';
import type { CaseAnswer } from './case-answer.ts';
import { CaseScene } from './case-scene.ts';
import type { CaseGroup, ExpectedAnswer, PolicyCase } from './policy-case.ts';

/** A case and its result. */
export interface CaseResult {
  readonly file: string;
  readonly line: number;
  readonly about: string;
  readonly case: string;
  readonly passed: boolean;
  readonly expected: ExpectedAnswer;
  readonly actual: CaseAnswer;
  /** The members of the answer that differ from the expected ones. */
  readonly differs: readonly (keyof ExpectedAnswer)[];
  /** Set if an earlier request was answered differently from the case. */
  readonly problem: string | null;
  /** Every rule that matches, including the one that decides. */
  readonly matched: readonly { readonly rule: string; readonly effect: string; readonly why: string }[];
}

/** A group whose own policies must be refused, or should not have been. */
export interface RefusalResult {
  readonly file: string;
  readonly line: number;
  readonly about: string;
  readonly passed: boolean;
  readonly expected: readonly string[];
  readonly actual: readonly string[];
}

export interface CaseReport {
  readonly cases: readonly CaseResult[];
  readonly refusals: readonly RefusalResult[];
  /** The coverage of the policies under test, without those that groups bring along. */
  readonly coverage: {
    readonly rules: number;
    readonly reached: number;
    /** `<document>/<rule>` of the rules that matched in no case. */
    readonly unreached: readonly string[];
  };
}

/** Judges every case by the policies under test, or by those of its group. */
export function testPolicies(
  documents: readonly PolicyDocument[],
  groups: readonly CaseGroup[],
  mostMicros: number,
): CaseReport {
  const set = new PolicySet(documents, 'test');
  const rules = documents.flatMap(({ name, rules: onCalls, resultRules = [] }) =>
    [...onCalls, ...resultRules].map((rule) => `${name}/${rule.name}`),
  );
  const reached = new Set<string>();
  const cases: CaseResult[] = [];
  const refusals: RefusalResult[] = [];
  for (const group of groups) {
    const own = group.policies === undefined ? undefined : parsePolicies(group.policies, policyFeatures);
    const told = own?.problems.map(describeProblem) ?? [];
    if (own !== undefined && (group.problems !== undefined || told.length > 0)) {
      refusals.push(refusal(group, told));
    }
    if (told.length > 0) continue;
    const judges = own === undefined ? set : new PolicySet(own.documents, 'test');
    for (const one of group.cases) {
      const scene = new CaseScene(judges, one, mostMicros);
      const problem = scene.goThrough() ?? null;
      const { answer, rules: considered } = scene.ask(one);
      const matching = considered.filter(({ matched }) => matched);
      cases.push(result(group, one, answer, problem, matching));
      if (own === undefined) for (const { document, rule } of matching) reached.add(`${document}/${rule}`);
    }
  }
  const unreached = rules.filter((id) => !reached.has(id));
  return { cases, refusals, coverage: { rules: rules.length, reached: reached.size, unreached } };
}

function result(
  { file, about }: CaseGroup,
  { name, line, expected }: PolicyCase,
  actual: CaseAnswer,
  problem: string | null,
  matching: readonly ConsideredRule<string>[],
): CaseResult {
  const members = Object.keys(expected) as (keyof ExpectedAnswer)[];
  const differs = members.filter((member) => !fits(member, expected, actual));
  const matched = matching.map(({ document, rule, effect, why }) => ({ rule: `${document}/${rule}`, effect, why }));
  const passed = differs.length === 0 && problem === null;
  return { file, line, about, case: name, passed, expected, actual, differs, problem, matched };
}

function fits(member: keyof ExpectedAnswer, expected: ExpectedAnswer, actual: CaseAnswer): boolean {
  const { reason = '' } = expected;
  // A denial ends with what would be allowed, which changes with every rule. A case may omit that.
  if (member === 'reason') return actual.reason === reason || actual.reason.startsWith(`${reason}; allowed here`);
  if (member === 'limit' || member === 'approvals') {
    const parts = Object.entries(expected[member] ?? {});
    return parts.every(([name, value]) => isDeepStrictEqual(actual[member]?.[name], value));
  }
  if (member === 'on_result') {
    const { on_result: found } = actual;
    const parts = Object.entries(expected[member] ?? {});
    return found !== null && parts.every(([name, value]) => isDeepStrictEqual(shownAs(value, found[name]), value));
  }
  return isDeepStrictEqual(actual[member], expected[member]);
}

/** A masked result is a text. A case may write its JSON instead. */
function shownAs(expected: unknown, found: unknown): unknown {
  if (typeof found !== 'string' || typeof expected === 'string') return found;
  try {
    return JSON.parse(found);
  } catch {
    return found;
  }
}

function refusal({ file, line, about, problems = [] }: CaseGroup, actual: readonly string[]): RefusalResult {
  const passed = problems.length === actual.length && problems.every((problem, at) => problem === actual[at]);
  return { file, line, about, passed, expected: problems, actual };
}
