import { expect, test } from 'vitest';
import { Broken } from './broken.ts';
import { History } from './history.ts';
import { JudgedBudgets } from './judged-budgets.ts';
import { JudgedTokens } from './judged-tokens.ts';
import { caps } from './policies.ts';

const [agent, op] = ['acme/red/bot-0', 'acme/red/bot-0 t1:s'];
const whose = { agent, delegators: [] };

function budgetsOn(day: string): JudgedBudgets {
  const budgets = new JudgedBudgets(new History(false));
  budgets.beginCommit(day);
  budgets.moveTo(day);
  return budgets;
}

test('of a share that is used up, somebody is told', () => {
  const budgets = budgetsOn('2026-01-18');
  budgets.reserve(whose, caps.agent * 0.9);
  expect(() => budgets.requireTold()).toThrow(Broken);
  expect(budgets.untold).toContain('80 %');
  budgets.tell(1, agent, '2026-01-18', 80);
  budgets.requireTold();
  expect(budgets.untold).toBeUndefined();
});

test('what reservations use of the next day is told with its first charge', () => {
  const budgets = budgetsOn('2026-01-18');
  budgets.reserve(whose, caps.agent * 0.9);
  budgets.tell(1, agent, '2026-01-18', 80);
  budgets.beginCommit('2026-01-19');
  budgets.moveTo('2026-01-19');
  budgets.requireTold();
  budgets.reserve(whose, 1);
  expect(() => budgets.requireTold()).toThrow(Broken);
});

test('a charge counts for the day that was booked to before, whatever its clock says', () => {
  const budgets = budgetsOn('2026-01-18');
  budgets.beginCommit('2026-01-19');
  budgets.book({ agent: 'acme/red/bot-1', delegators: [] }, '2026-01-19', 1);
  budgets.moveTo('2026-01-18');
  budgets.reserve(whose, caps.agent * 0.9);
  expect(() => budgets.requireTold()).toThrow(Broken);
});

test('an agent is served by the token that is in force where the log has that', () => {
  const tokens = new JudgedTokens();
  const give = (hash: string, at = 0, ttlMs: number | null = null) => {
    tokens.saved(agent, hash);
    tokens.give(1, agent, at, ttlMs);
  };
  give('one');
  const heard = tokens.ask(op, { hash: 'one' });
  tokens.requireAsked(1, agent, op, 0);
  // The order of the log counts, and not that of the registrations.
  give('three');
  give('two');
  expect(() => tokens.requireAsked(2, agent, op, 0)).toThrow(Broken);
  const heardToo = tokens.ask(op, { hash: 'two' });
  tokens.requireAsked(3, agent, op, 0);
  heardToo();
  heard();
  expect(() => tokens.requireAsked(4, agent, op, 0)).toThrow(Broken);
  tokens.ask(op, { hash: 'two' });
  tokens.end(agent);
  expect(() => tokens.requireAsked(5, agent, op, 0)).toThrow(Broken);
});

test('a token ends at its time, and one that was renewed a minute later', () => {
  const tokens = new JudgedTokens();
  tokens.saved(agent, 'one');
  tokens.give(1, agent, 0, 100_000);
  tokens.saved(agent, 'two');
  tokens.renew(2, agent, 80_000);
  tokens.ask(op, { hash: 'one' });
  tokens.requireAsked(3, agent, op, 139_999);
  expect(() => tokens.requireAsked(4, agent, op, 140_000)).toThrow(Broken);
  tokens.ask(op, { hash: 'two' });
  tokens.requireAsked(5, agent, op, 179_999);
  expect(() => tokens.requireAsked(6, agent, op, 180_000)).toThrow(Broken);
});

test('an action happens for the user whose token was shown and had not ended', () => {
  const tokens = new JudgedTokens();
  tokens.saved(agent, 'one');
  tokens.give(1, agent, 0, null);
  tokens.ask(op, { hash: 'one', user: { sub: 'ann', until: 100 } });
  tokens.requireAsked(2, agent, op, 99, 'ann');
  expect(() => tokens.requireAsked(3, agent, op, 100, 'ann')).toThrow(Broken);
  expect(() => tokens.requireAsked(4, agent, op, 99, null)).toThrow(Broken);
  expect(() => tokens.requireAsked(5, agent, op, 99, 'bob')).toThrow(Broken);
});
