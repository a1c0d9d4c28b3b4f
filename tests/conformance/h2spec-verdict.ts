import type { Exception, RequestKind } from './h2spec-exceptions.ts';
import type { H2specCase } from './h2spec-report.ts';

export interface Verdict {
  readonly name: string;
  readonly ok: boolean;
  /** Why it is right or wrong, in a few words. */
  readonly note: string;
}

/** Holds the results against the table of exceptions: a surprise of either kind is wrong. */
export function judgeH2spec(
  requests: RequestKind,
  cases: readonly H2specCase[],
  exceptions: readonly Exception[],
): Verdict[] {
  const here = exceptions.filter((entry) => entry.requests.includes(requests));
  const expected = new Map(here.map((entry) => [entry.test, entry]));
  const verdicts = cases.map((result) => judge(result, expected.get(result.name)));
  const names = new Set(cases.map(({ name }) => name));
  const unknown = [...expected.keys()].filter((test) => !names.has(test));
  const leftover = unknown.map((name) => ({
    name,
    ok: false,
    note: 'the table of exceptions names a test that is not there',
  }));
  return [...verdicts, ...leftover];
}

function judge({ name, outcome, detail }: H2specCase, exception: Exception | undefined): Verdict {
  if (exception === undefined) {
    return { name, ok: outcome === 'passed', note: outcome === 'failed' ? detail : outcome };
  }
  if (outcome === exception.outcome) return { name, ok: true, note: `${outcome}, as expected` };
  if (outcome === 'passed' && exception.sometimesPasses === true) return { name, ok: true, note: 'passed this time' };
  return { name, ok: false, note: `${outcome}, but the table of exceptions expects it ${exception.outcome}` };
}
