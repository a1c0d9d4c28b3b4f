import { ConditionError, parsePolicies, PolicySet } from '@reeve/core';
import { Fault } from '../../../packages/gateway/src/adapters/cel/faults.ts';
import { policyFeatures } from '../../../packages/gateway/src/adapters/cel/policy-features.ts';
import { sampleFacts } from '../../../packages/gateway/src/adapters/cel/sample-facts.ts';
import { judgeCases } from '../../../packages/gateway/src/offline/judge-cases.ts';
import type { TextKind } from './text-input.ts';

const facts = sampleFacts({
  text: 'a text, and another',
  list: Array.from({ length: 50 }, (_, at) => at),
  deep: { er: { yet: [null, { a: 'b' }] } },
  constructor: 1,
});
const plain = parsePolicies([{ file: 'plain.yaml', text: 'name: plain\ndefault: allow\n' }]).documents;

/** Reads an input as the gateway does, and uses the result. Throws only what the gateway would not foresee. */
export function tryText(kind: TextKind, text: string): void {
  switch (kind) {
    case 'condition':
      tryCondition(text);
      break;
    case 'policy':
      tryPolicy(text);
      break;
    case 'cases':
      judgeCases(plain, text, 1_000_000_000);
  }
}

function tryCondition(text: string): void {
  try {
    policyFeatures.compileCondition(text)(facts);
  } catch (error) {
    if (!(error instanceof ConditionError) && !(error instanceof Fault)) throw error;
  }
}

function tryPolicy(text: string): void {
  const { documents, problems } = parsePolicies([{ file: 'p.yaml', text }], policyFeatures);
  for (const { line, column, message } of problems) {
    if (line < 1 || column < 1 || message === '') throw new Error(`a problem without a place: ${message}`);
  }
  if (problems.length > 0) return;
  new PolicySet(documents, 'fuzz').evaluate(facts.agent.id, facts.action, facts);
}
