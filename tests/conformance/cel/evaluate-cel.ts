import { ConditionError, Evaluation, subjectOf } from '@reeve/core';
import { buildClosure } from '../../../packages/gateway/src/adapters/cel/build-closure.ts';
import { celParser } from '../../../packages/gateway/src/adapters/cel/cel-environment.ts';
import { defaultLimits } from '../../../packages/gateway/src/adapters/cel/condition-limits.ts';
import { Fault } from '../../../packages/gateway/src/adapters/cel/faults.ts';
import { Frame } from '../../../packages/gateway/src/adapters/cel/frame.ts';
import { readTree } from '../../../packages/gateway/src/adapters/cel/read-tree.ts';
import { sampleFacts } from '../../../packages/gateway/src/adapters/cel/sample-facts.ts';

/** What Reeve makes of an expression: it is refused when a policy is loaded, has a value, or has none. */
export type Outcome =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly why: string };

const parse = celParser(defaultLimits, 'call');

/** Conditions must be bool; here an expression of any type is evaluated, as a part of a condition would be. */
export function evaluateCel(source: string): Outcome {
  try {
    const parsed = parse(source);
    const run = buildClosure(readTree(parsed.root, 'call'));
    parsed.check();
    const facts = sampleFacts();
    return { kind: 'value', value: run(new Frame(facts, new Evaluation(subjectOf(facts.action)))) };
  } catch (error) {
    if (error instanceof ConditionError) return { kind: 'refused', why: error.message };
    if (error instanceof Fault) return { kind: 'error', why: error.message };
    throw error;
  }
}
