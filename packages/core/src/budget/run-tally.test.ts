import { expect, test } from 'vitest';
import { agentId } from '../testkit/requests.ts';
import { RunTally } from './run-tally.ts';

const bot = agentId('acme/search/bot');
const other = agentId('acme/search/other');

test('a run counts its checks and what they cost, for its agent alone', () => {
  const tally = new RunTally();
  expect(tally.of(bot, 'r')).toEqual({ checks: 0, spentMicros: 0 });
  tally.count(bot, 'r', 5);
  tally.count(bot, 'r', 7);
  tally.count(bot, 'q', 1);
  expect(tally.of(bot, 'r')).toEqual({ checks: 2, spentMicros: 12 });
  expect(tally.of(bot, 'q')).toEqual({ checks: 1, spentMicros: 1 });
  expect(tally.of(other, 'r')).toEqual({ checks: 0, spentMicros: 0 });
});

test('a check that did not happen is taken back', () => {
  const tally = new RunTally();
  tally.count(bot, 'r', 5)();
  expect(tally.of(bot, 'r')).toEqual({ checks: 0, spentMicros: 0 });
  tally.count(bot, 'r', 5);
  tally.count(bot, 'r', 7)();
  expect(tally.of(bot, 'r')).toEqual({ checks: 1, spentMicros: 5 });
});

test('of very many runs the one that was quiet for longest is forgotten', () => {
  const tally = new RunTally();
  for (let run = 0; run < 100_000; run++) tally.count(bot, `r${run}`, 1);
  tally.count(bot, 'r0', 1);
  const checks = () => ['r0', 'r1', 'r2', 'new'].map((run) => tally.of(bot, run).checks);
  expect(checks()).toEqual([2, 1, 1, 0]);
  tally.count(bot, 'new', 1);
  expect(checks()).toEqual([2, 0, 1, 1]);
});
