import { expect, test } from 'vitest';
import { fileTextIn, ReadPrompt } from './prompt-files.ts';

const text = 'to ada@example.com';
const inBase64 = Buffer.from(text).toString('base64');

test.each([
  [inBase64, 'text/plain'],
  [`${inBase64}\n`, ''],
  [`data:text/plain;base64,${inBase64}`, ''],
  [`DATA:;x=1;BASE64,${encodeURIComponent(inBase64)}`, ''],
  [`data:,${encodeURIComponent(text)}`, ''],
])('%s is a file of text', (said, mediaType) => {
  const file = fileTextIn(said, mediaType);
  expect(file?.text).toBe(text);
  expect(fileTextIn(file?.written('other words') ?? '', mediaType)?.text).toBe('other words');
});

test.each(['hello', 'hello, world', 'data:', 'a data:text/plain,x', 'metadata:,x'])('%s is none', (said) => {
  expect(fileTextIn(said)).toBeUndefined();
});

test('a file of text in another encoding cannot be judged', () => {
  const data = Buffer.from(text, 'utf16le').toString('base64');
  expect(() => new ReadPrompt({ mediaType: 'text/plain', data })).toThrow('cannot be read as text');
  expect(() => new ReadPrompt({ url: `data:text/csv;base64,${data}` })).toThrow('cannot be read as text');
});

// By an expression that looks again from each place, each of these would take hours.
test.each([
  ['newlines', `${'\n'.repeat(1_000_000)}!`],
  ['a URL without data', `data:${'a'.repeat(1_000_000)}`],
  ['a URL of parameters', `data:${';a'.repeat(500_000)}`],
  ['padding', '='.repeat(1_000_000)],
])('a megabyte of %s is looked through once', (_, said) => {
  expect(fileTextIn(said)).toBeUndefined();
  expect(new ReadPrompt({ said }).files).toEqual([]);
});
