import { describe, expect, test } from 'vitest';
import { conditionCompiler } from './compile-condition.ts';

const compile = conditionCompiler();

describe('what everybody together has spent', () => {
  test.each([
    'spend.global.day_usd > 1.0',
    'spend.global.month_usd > 1.0',
    'spend.global["month_usd"] > 1.0',
    'has(spend.global.day_usd)',
    'args.x == 1 || (true ? spend.global.day_usd : 1.0) > 2.0',
    'args.list.exists(x, x > spend.global.day_usd)',
    '[spend.global.day_usd].exists(x, x > 1.0)',
    'cel.bind(x, spend.global.day_usd, x > 1.0)',
    '{"a": spend.global.day_usd}["a"] > 1.0',
    'string(spend.global.day_usd).startsWith("1")',
    '!(spend.global.day_usd < 1.0)',
  ])('is not for a tenant to look at: %s', (source) => {
    expect(() => compile(source, 'tenant')).toThrow(/"spend\.global" is the operator's/);
    expect(() => compile(source)).not.toThrow();
  });

  // Every other way to reach the global spend fails to compile, for every author.
  test.each([
    'spend == args',
    'spend["global"]["day_usd"] > 1.0',
    'spend["global"].day_usd > 1.0',
    'spend[args.name].day_usd > 1.0',
    'spend["glo" + "bal"].day_usd > 1.0',
    'cel.bind(s, spend, s.global.day_usd > 1.0)',
    'cel.bind(s, spend.global, s.day_usd > 1.0)',
    '[spend].exists(s, s.global.day_usd > 1.0)',
    'spend.exists(k, k == "global")',
    'spend.map(k, spend[k]).size() > 0',
    'has(spend.global)',
    'string(spend) != ""',
    'size(spend) > 1',
  ])('is not come to by %s', (source) => {
    expect(() => compile(source, 'tenant')).toThrow();
  });

  test.each([
    'spend.org.day_usd > 1.0',
    'args.spend.global > 1',
    'args.list.exists(spend, spend.global > 1)',
    'args.x == "spend.global"',
  ])('has nothing to do with %s', (source) => {
    expect(() => compile(source, 'tenant')).not.toThrow();
  });
});
