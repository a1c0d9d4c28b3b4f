import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineDiff, nearChanges } from './line-diff.ts';

const shown = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, text }) => `${{ removed: '-', added: '+', same: ' ' }[kind]}${text}`);

describe('a difference of lines', () => {
  test('keeps what is common', () => {
    expect(shown('a\nb\nc\n', 'a\nx\nc\nd\n')).toEqual([' a', '-b', '+x', ' c', '+d']);
  });

  test('makes the one text of the other, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '')).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after);
        const of = (...kinds: string[]) =>
          lines
            .filter(({ kind }) => kinds.includes(kind))
            .map((line) => line.text)
            .join('\n');
        expect(of('same', 'removed')).toBe(before.replace(/\n$/, ''));
        expect(of('same', 'added')).toBe(after.replace(/\n$/, ''));
      }),
    );
  });

  test('of texts that are too long to compare is a replacement', () => {
    const long = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word} ${at}`).join('\n');
    const lines = lineDiff(long('a'), long('b'));
    expect(lines.filter(({ kind }) => kind === 'removed')).toHaveLength(3000);
    expect(lines.filter(({ kind }) => kind === 'added')).toHaveLength(3000);
  });

  test('is shown with the lines around what changed, and gaps between', () => {
    const before = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const after = before.with(3, 'three').with(15, 'fifteen');
    const near = nearChanges(lineDiff(before.join('\n'), after.join('\n')), 1);
    expect(near.map((line) => (line === 'gap' ? '…' : line.text))).toEqual([
      ...['line 2', 'line 3', 'three', 'line 4', '…', 'line 14', 'line 15', 'fifteen', 'line 16'],
    ]);
  });
});
