import { cpuMs } from '@reeve/core/testkit';
import { describe, expect, test } from 'vitest';
import { conditionCompiler } from './compile-condition.ts';
import { sampleFacts } from './sample-facts.ts';

const compile = conditionCompiler();
/** A fraction of the usual cost limit, so that a tenth of the arguments is enough. */
const compileBounded = conditionCompiler({ cost: 50_000 });

/** The best time of a condition in milliseconds, and its outcome. */
function timed(source: string, args: unknown, compiler = compile): { took: number; outcome: string } {
  const condition = compiler(source);
  const facts = sampleFacts(args);
  let outcome = '';
  const took = cpuMs(() => {
    try {
      outcome = String(condition(facts));
    } catch (error) {
      outcome = error instanceof Error ? error.name : 'not an error';
    }
  });
  return { took, outcome };
}

/**
 * The time of a bounded condition does not grow with its input: for a hundred times the input, at most this many times
 * the time. Without the bound it would be a hundred times, and ten thousand times for nested loops.
 */
const mostTimes = 40;
const much = 4000;
const veryMuch = 100 * much;

function list(length: number): unknown {
  return { list: Array.from({ length }, (_, at) => at % 10) };
}

function texts(length: number): unknown {
  return { list: Array.from({ length: length / 10 }, (_, at) => `text${at}`) };
}

function text(length: number): unknown {
  return { text: 'a'.repeat(length) };
}

function twoTexts(length: number): unknown {
  return { text: 'a'.repeat(length), needle: `${'a'.repeat(length / 8)}b${'a'.repeat(length / 8)}` };
}

function objects(length: number): unknown {
  return { list: Array.from({ length: length / 10 }, (_, at) => ({ at })) };
}

describe('however much there is, it costs no more than a condition may', () => {
  test.each([
    ['args.list.all(x, x < 100)', list],
    ['args.list.exists(x, x == 100)', list],
    ['args.list.exists_one(x, x == 100)', list],
    ['args.list.map(x, x + 1).size() == 0', list],
    ['args.list.filter(x, x > 100).size() == 0', list],
    ['args.list.all(x, args.list.all(y, x + y < 100))', list],
    ['args.list.exists(x, args.list.exists(y, args.list.exists(z, x + y + z == 100)))', list],
    ['args.list.map(x, args.list.map(y, [x, y])).size() == 0', list],
    ['args.list.exists(x, x.missing == 1)', list],
    ['args.list.exists(x, x.missing == 1 || x.gone == 2)', list],
    ['100 in args.list', list],
    ['args.list == args.list + [] && false', list],
    ['(args.list + args.list).size() == 0', list],
    ['args.list.all(x, x in args.list)', texts],
    ['args.list.all(x, x.matches("^[a-z]+[0-9]+$"))', texts],
    ['args.list.exists(x, "a".matches(x))', texts],
    ['args.list.exists(x, now.getHours(x) > 24)', texts],
    ['args.list.join(",").size() == 0', texts],
    ['args.list.all(x, x == {"at": 1} || true)', objects],
    ['args.list.all(x, x.all(k, x[k] >= 0))', objects],
    ['args.text.matches("(a+)+b$")', text],
    ['args.text.matches("(x+x+)+y")', text],
    ['args.text.split("a").size() == 0', text],
    ['args.text.split("").size() == 0', text],
    ['args.text.size() == 0 && args.text.upperAscii() == ""', text],
    ['args.text.contains(args.needle)', twoTexts],
    ['args.text.lastIndexOf(args.needle) > 0', twoTexts],
    ['(args.text + args.text + args.text + args.text).contains("ab")', text],
  ])('%s', { timeout: 120_000 }, (source, args) => {
    const some = timed(source, args(much), compileBounded);
    const more = timed(source, args(veryMuch), compileBounded);
    expect(more.took).toBeLessThan(mostTimes * Math.max(some.took, 0.2));
  });

  test('past the bound the condition fails, and nothing outweighs that', () => {
    const condition = compile('args.list.exists(x, args.list.exists(y, x + y == 100)) || true');
    expect(() => condition(sampleFacts(list(10_000)))).toThrow('costs more than one evaluation may');
    expect(timed('args.list.all(x, args.list.all(y, x == y + 100)) && false', list(10_000)).outcome).toBe('false');
    expect(timed('args.list.exists(z, args.list.all(y, z + y < 100) && false)', list(10_000)).outcome).toBe(
      'ConditionLimitFault',
    );
  });

  test('the bound can be set', () => {
    const facts = sampleFacts(list(100));
    expect(conditionCompiler({ cost: 100_000 })('args.list.all(x, x < 100)')(facts)).toBe(true);
    expect(() => conditionCompiler({ cost: 100 })('args.list.all(x, x < 100)')(facts)).toThrow('costs more');
  });

  test('what is usual is far from it', () => {
    const to = Array.from({ length: 1000 }, (_, at) => `user${at}@example.com`);
    const body = 'Dear all, the minutes of the meeting are attached. '.repeat(2000);
    const args = { to, body };
    expect(timed('args.to.all(t, t.endsWith("@example.com") && t.matches("^[a-z0-9]+@"))', args).outcome).toBe('true');
    expect(timed('args.body.contains("PRIVATE KEY") || args.body.matches("(?i)password\\\\s*:")', args).outcome).toBe(
      'false',
    );
  });

  test('the members of a map are listed unless there are very many', () => {
    const map = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, at) => [`m${at}`, at]));
    expect(timed('size(args) == 10000', map(10_000)).outcome).toBe('true');
    for (const source of [
      'size(args) > 1',
      'args.exists(k, k == "m1")',
      'args == {"m1": 1}',
      'size(args) > 1 || true',
    ]) {
      expect(timed(source, map(60_000)).outcome).toBe('ConditionLimitFault');
    }
    expect(
      timed('args.m7 == 7 && has(args.m8) && "m9" in args && size(agent.metadata) == 2', map(60_000)).outcome,
    ).toBe('true');
  });

  test('a text cannot be doubled for ever', () => {
    const doublings = Array.from({ length: 30 }, (_, at) => `cel.bind(x${at + 1}, x${at} + x${at}, `).join('');
    const source = `cel.bind(x0, args.text, ${doublings}x30.size() == 0${')'.repeat(31)}`;
    expect(timed(source, { text: 'abc' }).outcome).toBe('ConditionLimitFault');
  });

  test('the patterns of a condition may become so many instructions together', () => {
    const patterns = (count: number) =>
      Array.from({ length: count }, (_, at) => `args.a.matches("x{${900 + at}}")`).join(' || ');
    expect(() => compile(patterns(30))).toThrow('the patterns of the condition are too large together');
    expect(timed(patterns(10), { a: 'y' }).outcome).toBe('false');
  });
});
