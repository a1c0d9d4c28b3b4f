import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ForeignSuite, SuiteResult } from '../foreign-suite.ts';
import { npmTool } from '../foreign-suite.ts';
import type { CelValue } from './cel-value.ts';
import { isValue } from './cel-value.ts';
import { deviations } from './deviations.ts';
import type { Outcome } from './evaluate-cel.ts';
import { evaluateCel } from './evaluate-cel.ts';

interface CelTest {
  readonly original: {
    readonly name: string;
    readonly expr: string;
    readonly value?: CelValue;
    readonly typedResult?: { readonly result?: CelValue };
    readonly evalError?: unknown;
    readonly checkOnly?: boolean;
  };
}

interface CelTests {
  readonly name: string;
  readonly suites?: readonly CelTests[];
  readonly tests?: readonly CelTest[];
}

const specification = '@bufbuild/cel-spec';

export const celSuite: ForeignSuite = {
  name: 'cel',
  about: `The tests of the Common Expression Language's own project, by \`${specification}\`. "As specified" counts the
expressions whose value or error is the one of the specification. "Refused" are those that a policy cannot hold: they
are refused when it is loaded, so none of them decides anything (protocol buffers, unsigned integers, bytes, optional
values, the extensions for math and encoding, and variables that conditions do not have). "Without a value" have one in
the specification and are an error here: such a condition matches where a rule denies, and does not where it allows.
"Deviating" have another value by design, and [the guide](guides/policies.md) says so. Any other difference fails.`,
  prepare: (say) => npmTool(specification, '0.6.1', say),
  async run(path) {
    const file = pathToFileURL(join(path, 'dist/esm/testdata/conformance.js')).href;
    const { tests } = (await import(file)) as { tests: CelTests };
    return judged(tests);
  },
};

function judged(tests: CelTests): SuiteResult {
  const counts = { 'as specified': 0, refused: 0, 'without a value': 0, deviating: 0, wrong: 0 };
  const failures: string[] = [];
  for (const [place, test] of eachTest(tests)) {
    const outcome = evaluateCel(test.original.expr);
    const verdict = verdictOf(place, test, outcome);
    counts[verdict]++;
    if (verdict === 'wrong') failures.push(`${place}: ${test.original.expr} is ${shown(outcome)}`);
  }
  return { counts, passed: counts['as specified'], failures };
}

function verdictOf(place: string, { original }: CelTest, outcome: Outcome) {
  const { evalError, checkOnly } = original;
  if (outcome.kind === 'refused') return evalError === undefined ? 'refused' : 'as specified';
  if (checkOnly === true) return 'as specified';
  if (outcome.kind === 'error') return evalError === undefined ? 'without a value' : 'as specified';
  const expected = original.value ?? original.typedResult?.result ?? { boolValue: true };
  if (evalError === undefined && isValue(outcome.value, expected)) return 'as specified';
  return deviations.has(place) ? 'deviating' : 'wrong';
}

function* eachTest(tests: CelTests, place: readonly string[] = []): Generator<[string, CelTest]> {
  for (const suite of tests.suites ?? []) yield* eachTest(suite, [...place, suite.name]);
  for (const test of tests.tests ?? []) yield [[...place, test.original.name].join('/'), test];
}

function shown(outcome: Outcome): string {
  if (outcome.kind !== 'value') return outcome.why;
  const text = JSON.stringify(outcome.value, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value instanceof Map ? [...value] : value,
  );
  return text ?? String(outcome.value);
}
