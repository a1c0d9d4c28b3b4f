import { describe, expect, test } from 'vitest';
import { budgetKey, budgetName, parseBudgetKey, usageOf } from './budget-model.ts';

function usage(spent_usd: string, reserved_usd: string, limit_usd: string | null) {
  return usageOf({ spent_usd, reserved_usd, limit_usd });
}

describe('how much of a cap is used', () => {
  test.each([
    ['0.00', '0.00', '1.00', 'fine', 0],
    ['0.79', '0.009999', '1.00', 'fine', 79],
    ['0.50', '0.30', '1.00', 'near', 80],
    ['0.949999', '0.00', '1.00', 'near', 94],
    ['0.00', '0.95', '1.00', 'close', 95],
    ['0.999999', '0.00', '1.00', 'close', 99],
    ['1.00', '0.00', '1.00', 'reached', 100],
    ['1.50', '0.25', '1.00', 'reached', 175],
    ['0.00', '0.00', '0.00', 'reached', 100],
  ])('%s spent and %s held back of %s is %s, %i percent', (spent, reserved, limit, level, percent) => {
    expect(usage(spent, reserved, limit)).toMatchObject({ level, percent });
  });

  test('is no number without a cap', () => {
    expect(usage('5.00', '1.00', null)).toEqual({
      level: 'uncapped',
      percent: undefined,
      spentWidth: 0,
      reservedWidth: 0,
    });
  });

  test('is exact for amounts that floats would round', () => {
    expect(usage('9007199254740.992999', '0.00', '9007199254740.993')).toMatchObject({ percent: 99, level: 'close' });
    expect(usage('9007199254740.993', '0.00', '9007199254740.993')).toMatchObject({ percent: 100 });
  });

  test('fills the bar once, however much was spent', () => {
    expect(usage('0.25', '0.50', '1.00')).toMatchObject({ spentWidth: 25, reservedWidth: 50 });
    expect(usage('0.90', '0.50', '1.00')).toMatchObject({ spentWidth: 90, reservedWidth: 10 });
    expect(usage('3.00', '0.50', '1.00')).toMatchObject({ spentWidth: 100, reservedWidth: 0 });
    expect(usage('0.01', '0.00', '100.00').spentWidth).toBeCloseTo(0.01);
  });
});

describe('the key of a budget', () => {
  test.each([
    [{ tier: 'global', org_id: null, team_id: null, agent_id: null }, '*', 'Everybody'],
    [{ tier: 'org', org_id: 'acme', team_id: null, agent_id: null }, 'acme', 'acme'],
    [{ tier: 'team', org_id: null, team_id: 'core', agent_id: null }, '-/core', 'core'],
    [{ tier: 'agent', org_id: 'acme', team_id: null, agent_id: 'bot' }, 'acme/-/bot', 'bot'],
  ] as const)('%o is %s, there and back', (owner, key, name) => {
    expect(budgetKey(owner)).toBe(key);
    expect(parseBudgetKey(key)).toEqual(owner);
    expect(budgetName(owner)).toBe(name);
  });

  test('that is none is nothing', () => {
    for (const key of ['', 'a/', 'a/b/c/d', '/b']) expect(parseBudgetKey(key)).toBeUndefined();
  });
});
