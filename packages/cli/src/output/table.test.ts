import { assert, array, integer, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanText, escapeControls } from './clean-text.ts';
import { coarseDuration } from './duration.ts';
import type { Column } from './table.ts';
import { renderTable } from './table.ts';
import { fitText, textWidth } from './text-width.ts';

const plain = { width: undefined, hasColours: false };
type Row = readonly (string | number | null | undefined)[];
const column = (at: number, more: Partial<Column<Row>> = {}): Column<Row> => ({
  title: `C${at}`,
  value: (row) => row[at],
  ...more,
});

// Characters that a terminal acts on: they are what no table may print.
// oxlint-disable-next-line no-control-regex
const acting = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069]/;

describe('a table', () => {
  test('has each column as wide as its widest cell, numbers on the right, and a dash for nothing', () => {
    const rows: Row[] = [
      ['a', 1],
      ['longer', 100],
      ['', null],
    ];
    expect(renderTable([column(0), column(1, { isRight: true })], rows, plain)).toBe(
      'C0       C1\na         1\nlonger  100\n-         -',
    );
  });

  test('cuts flexible columns short until it fits, and no other', () => {
    const rows: Row[] = [['id-that-stays', 'x'.repeat(60), 'y'.repeat(20)]];
    const columns = [column(0), column(1, { isFlexible: true }), column(2, { isFlexible: true })];
    const lines = renderTable(columns, rows, { width: 50, hasColours: false }).split('\n');
    expect(lines.every((line) => textWidth(line) <= 50)).toBe(true);
    expect(lines[1]).toContain('id-that-stays');
    expect(lines[1]).toContain('…');
  });

  test('shows the other cells where one cannot be made', () => {
    const broken = column(1, {
      value: () => {
        throw new TypeError('no such member');
      },
    });
    expect(renderTable([column(0), broken], [['a']], plain)).toBe('C0  C1\na   -');
  });

  test('never has more lines than rows, nor what a terminal would act on, whatever the cells hold', () => {
    assert(
      property(
        array(array(string({ unit: 'binary' }), { minLength: 2, maxLength: 2 }), { maxLength: 5 }),
        integer({ min: 20, max: 80 }),
        (rows, width) => {
          const text = renderTable([column(0, { isFlexible: true }), column(1, { isFlexible: true })], rows, {
            width,
            hasColours: false,
          });
          expect(text.split('\n')).toHaveLength(rows.length + 1);
          expect(text).not.toMatch(acting);
        },
      ),
    );
  });
});

test('width is counted as a terminal shows it', () => {
  expect([textWidth('abc'), textWidth('日本'), textWidth('é'), textWidth('e\u0301'), textWidth('👍')]).toEqual([
    3, 4, 1, 1, 2,
  ]);
  expect(fitText('日本語', 5)).toBe('日本…');
  expect(fitText('abcdef', 4)).toBe('abc…');
});

test('text is cleaned of what a terminal acts on, and shows what would hide; JSON keeps both as escapes', () => {
  expect(cleanText('a\u001b[31mb\tc\r\nd\u009be\u202ef\u2028g')).toBe('a[31mb c de<U+202E>f<U+2028>g');
  const json = escapeControls(JSON.stringify({ a: 'b\u009b\u202e\u2028\u007f\u200b\u{e0072}' }, undefined, 1));
  expect(json).toBe('{\n "a": "b\\u009b\\u202e\\u2028\\u007f\\u200b\\udb40\\udc72"\n}');
  expect(JSON.parse(json)).toEqual({ a: 'b\u009b\u202e\u2028\u007f\u200b\u{e0072}' });
});

test.each([
  [0, 'less than a minute'],
  [59, 'less than a minute'],
  [60, '1 minute'],
  [5000, '83 minutes'],
  [5400, '2 hours'],
  [86_399, '24 hours'],
  [200_000, '2 days'],
])('%d seconds are %s', (seconds, words) => {
  expect(coarseDuration(seconds)).toBe(words);
});
