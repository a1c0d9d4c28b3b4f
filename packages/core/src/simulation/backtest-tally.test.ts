import { expect, test } from 'vitest';
import type { Decision } from '../audit/entry.ts';
import { agentId } from '../testkit/requests.ts';
import { BacktestTally } from './backtest-tally.ts';
import type { ChangedDecision } from './judge-again.ts';

function change(agent: string, was: Decision, wouldBe: Decision, wouldBeRule: string): ChangedDecision {
  const rest = { seq: 1, at: 0, opId: 't:s', resource: 'x', policyRule: '', action: { type: 'tool_call' } } as const;
  return { recorded: { ...rest, agent: agentId(agent) }, was, wouldBe, wouldBeRule };
}

test('what would change is counted by outcome, rule and agent, the most first', () => {
  const tally = new BacktestTally();
  tally.examined = 9;
  tally.skipped = 2;
  tally.add(change('acme/a/bot', 'allow', 'pending', 'p/ask'));
  tally.add(change('acme/a/bot', 'allow', 'deny', 'p/no'));
  tally.add(change('acme/b/bot', 'allow', 'deny', 'p/never'));
  tally.add(change('acme/b/bot', 'allow', 'deny', 'p/never'));
  const denied = { was: 'allow', wouldBe: 'deny' };
  const asked = { was: 'allow', wouldBe: 'pending' };
  expect(tally.summary()).toEqual({
    examined: 9,
    skipped: 2,
    changed: 4,
    byOutcome: [
      { ...denied, count: 3 },
      { ...asked, count: 1 },
    ],
    byRule: [
      { rule: 'p/never', ...denied, count: 2 },
      { rule: 'p/ask', ...asked, count: 1 },
      { rule: 'p/no', ...denied, count: 1 },
    ],
    byAgent: [
      { agent: agentId('acme/b/bot'), ...denied, count: 2 },
      { agent: agentId('acme/a/bot'), ...asked, count: 1 },
      { agent: agentId('acme/a/bot'), ...denied, count: 1 },
    ],
  });
});

test('of very many rules those with the most changes are told', () => {
  const tally = new BacktestTally();
  for (let rule = 0; rule < 1001; rule++) tally.add(change('acme/a/bot', 'allow', 'deny', `p/r${rule}`));
  tally.add(change('acme/a/bot', 'allow', 'deny', 'p/r1000'));
  const { byRule, changed } = tally.summary();
  expect([changed, byRule.length, byRule[0]?.rule, byRule[0]?.count]).toEqual([1002, 1000, 'p/r1000', 2]);
});
