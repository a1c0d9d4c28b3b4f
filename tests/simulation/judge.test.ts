import { expect, test } from 'vitest';
import { Broken } from './broken.ts';
import { History } from './history.ts';
import { JudgedBudgets } from './judged-budgets.ts';
import { JudgedTokens } from './judged-tokens.ts';
import { caps } from './policies.ts';

const [agent, op] = ['acme/red/bot-0', 'acme/red/bot-0 t1:s'];

function budgetsOn(day: string): JudgedBudgets {
  const budgets = new JudgedBudgets(new History(false));
  budgets.beginCommit(day);
  budgets.moveTo(day);
  return budgets;
}

test('of a share that is used up, somebody is told', () => {
  const budgets = budgetsOn('2026-01-18');
  budgets.reserve(agent, caps.agent * 0.9);
  expect(() => budgets.requireTold()).toThrow(Broken);
  expect(budgets.untold).toContain('80 %');
  budgets.tell(1, agent, '2026-01-18', 80);
  budgets.requireTold();
  expect(budgets.untold).toBeUndefined();
});

test('what reservations use of the next day is told with its first charge', () => {
  const budgets = budgetsOn('2026-01-18');
  budgets.reserve(agent, caps.agent * 0.9);
  budgets.tell(1, agent, '2026-01-18', 80);
  budgets.beginCommit('2026-01-19');
  budgets.moveTo('2026-01-19');
  budgets.requireTold();
  budgets.reserve(agent, 1);
  expect(() => budgets.requireTold()).toThrow(Broken);
});

test('a charge counts for the day that was booked to before, whatever its clock says', () => {
  const budgets = budgetsOn('2026-01-18');
  budgets.beginCommit('2026-01-19');
  budgets.book('acme/red/bot-1', '2026-01-19', 1);
  budgets.moveTo('2026-01-18');
  budgets.reserve(agent, caps.agent * 0.9);
  expect(() => budgets.requireTold()).toThrow(Broken);
});

test('an agent is served by the token that is in force where the log has that', () => {
  const tokens = new JudgedTokens();
  tokens.register(agent, 1);
  const heard = tokens.ask(op, 1);
  tokens.requireAsked(1, agent, op);
  // The order of the log counts, and not that of the registrations.
  tokens.register(agent, 3);
  tokens.register(agent, 2);
  expect(() => tokens.requireAsked(2, agent, op)).toThrow(Broken);
  const heardToo = tokens.ask(op, 2);
  tokens.requireAsked(3, agent, op);
  heardToo();
  heard();
  expect(() => tokens.requireAsked(4, agent, op)).toThrow(Broken);
  tokens.ask(op, 2);
  tokens.end(agent);
  expect(() => tokens.requireAsked(5, agent, op)).toThrow(Broken);
});
