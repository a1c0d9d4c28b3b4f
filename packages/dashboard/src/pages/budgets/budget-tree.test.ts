import { describe, expect, test } from 'vitest';
import type { Budget } from './budget-model.ts';
import { parseBudgetKey } from './budget-model.ts';
import type { BudgetFilter, BudgetNode } from './budget-tree.ts';
import { budgetTree, filterTree, linesOf } from './budget-tree.ts';

function row(key: string, spent_usd = '0.00', limit_usd: string | null = null): Budget {
  const owner = parseBudgetKey(key);
  if (owner === undefined) throw new Error(key);
  const resets_at = '2026-03-02T00:00:00.000Z';
  return { ...owner, period: 'day', limit_usd, spent_usd, reserved_usd: '0.00', resets_at, reached_at: null };
}

const rows = [
  row('*'),
  row('acme', '9.00', '10.00'),
  row('acme/core'),
  row('acme/core/bot-10', '0.99', '1.00'),
  row('acme/core/bot-9', '0.10', '1.00'),
  row('acme/web'),
  row('globex'),
  row('globex/core'),
  row('-/core'),
  row('-/-/lone'),
];

function outline(nodes: readonly BudgetNode[]): unknown[] {
  return nodes.map((node) => (node.children.length === 0 ? node.key : [node.key, ...outline(node.children)]));
}

describe('the tree', () => {
  test('is everybody, orgs, teams and agents by name, with places for those without an org or team', () => {
    expect(outline(budgetTree(rows))).toEqual([
      [
        '*',
        ['acme', ['acme/core', 'acme/core/bot-9', 'acme/core/bot-10'], 'acme/web'],
        ['globex', 'globex/core'],
        ['-', '-/core', ['-/-', '-/-/lone']],
      ],
    ]);
    const none = budgetTree(rows)[0]?.children.at(-1);
    expect(none).toMatchObject({ name: 'No org', budget: undefined });
  });

  test('has each once, also where it was loaded twice', () => {
    expect(outline(budgetTree([...rows, ...rows]))).toEqual(outline(budgetTree(rows)));
  });

  test('begins with the orgs for a tenant, who does not see everybody', () => {
    expect(outline(budgetTree(rows.slice(1, 3)))).toEqual([['acme', 'acme/core']]);
  });

  test('of a key that is bound to a team has its team, although the org has no row', () => {
    const [org] = budgetTree([row('acme/core'), row('acme/core/bot-9')]);
    expect(org).toMatchObject({ key: 'acme', name: 'acme', budget: undefined });
  });
});

describe('a filter', () => {
  const filtered = (filter: BudgetFilter) => outline(filterTree(budgetTree(rows), filter));

  test('by text leaves what fits and what leads there', () => {
    expect(filtered({ q: 'BOT-9' })).toEqual([['*', ['acme', ['acme/core', 'acme/core/bot-9']]]]);
    expect(filtered({ q: 'globex' })).toEqual([['*', ['globex', 'globex/core']]]);
    expect(filtered({ q: 'nobody' })).toEqual([]);
  });

  test('by org and team leaves these, with what is above', () => {
    expect(filtered({ org_id: 'globex' })).toEqual([['*', ['globex', 'globex/core']]]);
    expect(filtered({ org_id: 'acme', team_id: 'web' })).toEqual([['*', ['acme', 'acme/web']]]);
    expect(filtered({ team_id: 'core' })).toEqual([
      ['*', ['acme', ['acme/core', 'acme/core/bot-9', 'acme/core/bot-10']], ['globex', 'globex/core'], ['-', '-/core']],
    ]);
  });

  test('by nearness leaves what has used up 80 percent or more', () => {
    expect(filtered({ near: true })).toEqual([['*', ['acme', ['acme/core', 'acme/core/bot-10']]]]);
  });
});

describe('the lines', () => {
  const lines = (open: readonly string[], totals: Readonly<Record<string, number>> = {}) =>
    linesOf(budgetTree(rows), { isOpen: (key) => open.includes(key), totalOf: (team) => totals[team] }).map(
      (line) => `${'  '.repeat(line.level)}${line.key}${line.kind === 'more' ? ` ${line.left}` : ''}`,
    );

  test('show what lies in open orgs and teams', () => {
    expect(lines([])).toEqual(['*', '  acme', '  globex', '  -']);
    expect(lines(['acme'])).toEqual(['*', '  acme', '    acme/core', '    acme/web', '  globex', '  -']);
  });

  test('say how many agents of a team are still to be loaded, or that they are on their way', () => {
    expect(lines(['acme', 'acme/core', 'acme/web'], { 'acme/core': 102 })).toEqual([
      '*',
      '  acme',
      '    acme/core',
      '      acme/core/bot-9',
      '      acme/core/bot-10',
      '      acme/core more 100',
      '    acme/web',
      '      acme/web loading',
      '  globex',
      '  -',
    ]);
  });
});
