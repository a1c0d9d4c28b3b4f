import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isScalarText } from './scalar-text.ts';

interface Cases {
  readonly scalars: readonly string[];
  readonly texts: readonly string[];
}

/** The table that every language is held against. */
const { scalars, texts } = JSON.parse(
  readFileSync(new URL('../../../tests/scalar-texts/cases.json', import.meta.url), 'utf8'),
) as Cases;

test.each(scalars)('%j is a scalar', (text) => {
  expect(isScalarText(text)).toBe(true);
});

test.each(texts)('%j is a text', (text) => {
  expect(isScalarText(text)).toBe(false);
});

test.each(texts.concat(scalars))('whatever JSON reads as one is a scalar: %j', (text) => {
  const value = read(text);
  if (value !== undefined && (typeof value !== 'object' || value === null)) expect(isScalarText(text)).toBe(true);
});

test.each([' '.repeat(1_000_000), '\t\n\r '.repeat(250_000), `1${' '.repeat(1_000_000)}`, '"'.repeat(1_000_000)])(
  'a long text keeps nobody waiting',
  (text) => {
    expect(isScalarText(`${text}x`)).toBe(false);
  },
);

function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
