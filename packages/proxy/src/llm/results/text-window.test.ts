import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { concealText } from '../conceal.ts';
import type { JudgePiece } from './text-window.ts';
import { concealing, HeldBack, TextWindow } from './text-window.ts';

const passes: JudgePiece = async ({ text }) => ({ read: text, rest: '' });
const holds: JudgePiece = async ({ text }) => ({ read: '', rest: text });

/** The processor time that a text of so many characters takes, four with each event. */
async function cpuOf(characters: number, judge: JudgePiece): Promise<number> {
  const before = process.cpuUsage();
  const window = new TextWindow();
  for (let at = 0; at < characters; at += 4) {
    window.add('abc ');
    await window.next(judge);
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** The least of some runs: what else the machine does only adds to it. */
async function leastCpu(runs: number, characters: number, judge: JudgePiece): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) least = Math.min(least, await cpuOf(characters, judge));
  return least;
}

describe('a text of eight times the length takes about eight times as long', () => {
  test.each([
    ['where it passes', passes],
    ['where it is held', holds],
  ])('%s', async (_, judge) => {
    let times = Number.POSITIVE_INFINITY;
    for (let runs = 1; runs <= 3 && times >= 24; runs++) {
      times = (await leastCpu(runs, 200_000, judge)) / (await leastCpu(runs + 2, 25_000, judge));
    }
    // Quadratic work takes 64 times as long.
    expect(times).toBeLessThan(24);
  });
});

describe('a piece that is judged', () => {
  /** What is asked while these parts of a text come, and what passes of it. */
  async function asked(parts: readonly string[], judge: JudgePiece) {
    const [window, pieces, passed] = [new TextWindow(), [] as Parameters<JudgePiece>[0][], [] as string[]];
    for (const part of parts) {
      window.add(part);
      const text = await window.next((piece) => {
        pieces.push(piece);
        return judge(piece);
      });
      passed.push(text);
    }
    return { window, pieces, passed };
  }

  test('says whether it begins a line', async () => {
    const { pieces } = await asked(['one', ' two\n', 'three'], passes);
    expect(pieces.map(({ place }) => place)).toEqual(['text', 'within', 'line']);
  });

  test('begins with what was left of the one before, and is what the client has got', async () => {
    const words: JudgePiece = async ({ text }) => {
      const end = text.lastIndexOf(' ') + 1;
      return { read: text.slice(0, end).toUpperCase(), rest: text.slice(end) };
    };
    const { window, pieces, passed } = await asked(['one t', 'wo', ' three'], words);
    expect(pieces.map(({ text }) => text)).toEqual(['one t', 'two', 'two three']);
    expect(passed).toEqual(['ONE ', '', 'TWO ']);
    expect(window.taken).toBe('one two ');
    expect(window.restOf('ONE TWO THREE')).toBe('THREE');
    expect(window.restOf('ONE MORE')).toBeUndefined();
  });

  test('waits for the other half of a character', async () => {
    const { pieces, passed } = await asked(['\ud83d', '\ude00', 'a\ud83d', '', '\ude00'], passes);
    expect(pieces.map(({ text }) => text)).toEqual(['😀', 'a', '😀']);
    expect(passed).toEqual(['', '😀', 'a', '', '😀']);
    await expect(asked(['\ude00'], passes)).rejects.toThrow(HeldBack);
  });

  test('is not asked for once more is held than a piece may have', async () => {
    const { window, pieces, passed } = await asked(['{', 'x'.repeat(20_000), '}', ' more'], holds);
    expect(pieces.map(({ text }) => text)).toEqual(['{']);
    expect(passed.join('')).toBe('');
    expect(window.restOf('judged whole')).toBe('judged whole');
  });
});

test('a secret never passes, however it is cut, and all else does', async () => {
  const part = fc.constantFrom('aab', 'a', 'aa', 'ab', 'b', 'x', 'aabaab', 'é', '😀');
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 20 }),
      fc.constantFrom('aab', 'aba', 'aabaab'),
      async (parts, secret) => {
        const window = new TextWindow();
        let passed = '';
        for (const each of parts) {
          window.add(each);
          passed += await window.next(concealing(passes, secret));
          expect(passed).not.toContain(secret);
        }
        const whole = concealText(parts.join(''), secret);
        expect(passed + (window.restOf(whole) ?? 'something else')).toBe(whole);
        // Only what may be its beginning is held.
        expect(whole.length - passed.length).toBeLessThan(secret.length);
      },
    ),
  );
});

test('a secret in a whole value is concealed in its texts', async () => {
  const value = JSON.stringify({ id: 'x-n"ab', at: 'line\nabc' });
  const judged = await concealing(passes, 'n"ab')({ place: 'value', text: value });
  expect(JSON.parse(judged?.read ?? '')).toEqual({ id: 'x-****', at: 'line\nabc' });
});
