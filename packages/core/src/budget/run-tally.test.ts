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

test('of very many runs of an org those that were quiet for longest are forgotten, and none of another org', () => {
  const tally = new RunTally();
  const elsewhere = agentId('umbrella/search/bot');
  for (const agent of [bot, other, elsewhere]) tally.count(agent, 'quiet', 1);
  for (let run = 0; run < 120_000; run++) {
    tally.count(bot, `r${run}`, 1);
    if (run % 10_000 === 0) tally.count(bot, 'busy', 1);
  }
  expect(tally.of(bot, 'busy').checks).toBe(12);
  expect(tally.of(bot, 'r119999').checks).toBe(1);
  expect([bot, other, elsewhere].map((agent) => tally.of(agent, 'quiet').checks)).toEqual([0, 0, 1]);
});

test('however many orgs there are, the active ones keep their last runs, and memory stays bounded', () => {
  const tally = new RunTally();
  const orgs = Array.from({ length: 2500 }, (_, n) => agentId(`org-${n}/team/bot`));
  for (const agent of orgs) for (let run = 0; run < 3; run++) tally.count(agent, `r${run}`, 1);
  const [first = bot, last = bot] = [orgs.at(0), orgs.at(-1)];
  // It was quiet for longer than two thousand others.
  expect(tally.of(first, 'r2').checks).toBe(0);
  for (let run = 0; run < 2000; run++) tally.count(last, `more-${run}`, 1);
  expect([tally.of(last, 'r2').checks, tally.of(last, 'more-1500').checks]).toEqual([0, 1]);
});
