import { expect, test } from 'vitest';
import { renewedPage } from './conformance-page.ts';
import { emptyResults } from './results.ts';

const passed = { passed: 1, failed: [], warned: [] };

function withMcp(scenario: string) {
  const results = emptyResults();
  results.mcp.push({ revision: '2026-07-28', scenario, direct: passed, http: passed, stdio: undefined });
  return results;
}

test('a run renews the parts of its own suites, and leaves the others', () => {
  const results = emptyResults();
  results.foreign.set('cel', { counts: { 'as specified': 7 }, passed: 7, failures: ['one/two: wrong'] });
  const first = renewedPage('', results);
  const second = renewedPage(first, withMcp('ping'));
  const third = renewedPage(second, withMcp('tools-list'));
  expect(first).toContain('| as specified | 7 |');
  expect(first).toContain('- one/two: wrong');
  expect(second).toContain('| 2026-07-28 | ping | 1 passed | 1 passed | not run |');
  expect(third).toBe(second.replace('ping', 'tools-list'));
  expect(third.startsWith(first.trimEnd())).toBe(true);
  expect(third.match(/^# /gm)).toHaveLength(1);
});
