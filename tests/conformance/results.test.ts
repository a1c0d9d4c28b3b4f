import { expect, it } from 'vitest';
import { addedUp, emptyResults, sumsText } from './results.ts';

it('counts a pass, an exception, a surprise of either kind and a part that broke as what they are', () => {
  const results = emptyResults();
  const outcomes = ['passed', 'failed', 'failed', 'passed'] as const;
  results.h2spec.push({
    requests: 'http',
    cases: outcomes.map((outcome, at) => ({ name: String(at), outcome, detail: '' })),
    verdicts: [
      { name: '0', ok: true, note: 'passed' },
      { name: '1', ok: true, note: 'failed, as expected' },
      { name: '2', ok: false, note: 'Timeout' },
      { name: '3', ok: false, note: 'passed, but the table of exceptions expects it failed' },
    ],
  });
  const common = { engine: 'reeve', client: 'grpc-go', secure: false } as const;
  results.interop.push({ ...common, name: 'empty_unary', failure: undefined });
  results.interop.push({ ...common, name: 'large_unary', failure: 'no result' });
  results.broken.push('a server has ended');
  expect(addedUp(results)).toEqual({ passed: 2, failed: 4, excepted: 1 });
  expect(sumsText(results)).toBe('2 passed, 4 failed, 1 did not pass, as the table of exceptions expects');
});
