import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Chance } from './chance.ts';
import { clock } from './clock.ts';
import { disk } from './disk.ts';
import { fork } from './fork.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { histories } from './histories.ts';
import { kills } from './kills.ts';
import { memory } from './memory.ts';
import { helpText, readOptions } from './options.ts';
import { briefly } from './part.ts';
import { parts } from './parts.ts';
import { poison } from './poison.ts';
import type { PartResult } from './report.ts';
import { tableOf, withTable } from './report.ts';
import { signals } from './signals.ts';
import { stall } from './stall.ts';
import { streams } from './streams.ts';

const seed = 20_260_101;
const timeout = 180_000;

describe('the short form of the campaign finds nothing', () => {
  test('kills', { timeout }, async () => {
    const { counts, findings } = await kills(briefly(seed, 2));
    expect(findings).toEqual([]);
    expect(counts['acknowledged']).toBeGreaterThan(0);
  });

  test('signals', { timeout }, async () => {
    expect(await signals(briefly(seed, 5))).toMatchObject({ findings: [], counts: { signals: expect.any(Number) } });
  });

  test('disk', { timeout }, async () => {
    expect((await disk(briefly(seed, 2))).findings).toEqual([]);
  });

  test('histories', { timeout }, async () => {
    expect((await histories(briefly(seed, 1))).findings).toEqual([]);
  });

  test('clock', { timeout }, async () => {
    expect((await clock(briefly(seed, 1))).findings).toEqual([]);
  });

  test('stall', { timeout }, async () => {
    const { counts, findings } = await stall(briefly(seed, 5));
    expect(findings).toEqual([]);
    expect(counts['refused']).toBeGreaterThan(0);
  });

  test('streams', { timeout }, async () => {
    const { counts, findings } = await streams(briefly(seed, 7));
    expect(findings).toEqual([]);
    expect(counts['decisions']).toBeGreaterThan(0);
  });

  test('memory', { timeout }, async () => {
    const { counts, findings } = await memory(briefly(seed, 1));
    expect(findings).toEqual([]);
    expect(counts['agents']).toBeGreaterThan(0);
  });

  test('poison', { timeout }, async () => {
    const { counts, findings } = await poison(briefly(seed, 4));
    expect(findings).toEqual([]);
    expect(counts['damaged commits']).toBeGreaterThan(0);
  });

  test('fork', { timeout }, async () => {
    expect(await fork(briefly(seed, 1))).toMatchObject({ findings: [], counts: { failovers: 1 } });
  });

  test('fuzz', { timeout }, async () => {
    const { counts, findings } = await fuzz(briefly(seed, 4000));
    expect(findings).toEqual([]);
    expect(counts['inputs']).toBeGreaterThan(0);
  });
});

describe('its command line', () => {
  const names = parts.map(({ name }) => name);

  test('has ten minutes and every part where nothing is said', () => {
    expect(readOptions(['--seed', '7'], names)).toEqual({ minutes: 10, only: [], seed: 7, report: undefined });
  });

  test('helps, with the names of all parts', () => {
    expect(readOptions(['--help'], names)).toBeUndefined();
    for (const name of names) expect(helpText(names)).toContain(name);
  });

  test.each([
    [['--only', 'nothing'], 'there is no part "nothing"'],
    [['--minutes', '0'], '--minutes takes a number above 0'],
    [['--minutes', 'x'], '--minutes takes a number above 0'],
    [['--seed', '-1'], 'ambiguous'],
    [['--seed=-1'], '--seed takes a whole number'],
    [['--wrong'], 'Unknown option'],
  ])('refuses %j', (args, message) => {
    expect(() => readOptions(args, names)).toThrow(message);
  });
});

describe('its report', () => {
  const result: PartResult = {
    part: 'kills',
    holds: 'nothing is lost',
    seed: 7,
    at: '2026-01-05T12:00:00.000Z',
    seconds: 600,
    commit: 'abc1234',
    counts: { kills: 1000, acknowledged: 250_000 },
    findings: [],
    notRun: ['a | b'],
  };

  test('is a table, which takes the place of the one before', () => {
    const table = tableOf([result]);
    expect(table).toContain('| 1,000 kills, 250,000 acknowledged | nothing found | a \\| b |');
    const page =
      'Before.\n\n<!-- results: npm run trust -- --report docs/trust-results.json -->\nearlier\n<!-- end of results -->\n\nAfter.\n';
    const written = withTable(page, table);
    expect(written).toContain('abc1234');
    expect(written).not.toContain('earlier');
    expect(withTable(written, table)).toBe(written);
  });

  test('does not lose the page that has no place for it', () => {
    expect(() => withTable('nothing', '')).toThrow('has no place');
  });

  test('stands on the page of the docs', () => {
    expect(existsSync('docs/trust.md')).toBe(true);
  });
});

test('draws follow from the seed', () => {
  const draw = (from: number) => {
    const chance = new Chance(from);
    return Array.from({ length: 20 }, () => chance.below(1000));
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(draw(1).every((drawn) => drawn >= 0 && drawn < 1000)).toBe(true);
});
