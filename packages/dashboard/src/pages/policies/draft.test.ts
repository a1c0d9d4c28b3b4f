import { expect, test } from 'vitest';
import { afterVersion, firstDraft } from './draft.ts';
import type { PolicyText } from './policy-list.ts';

const version = (number: number | null, source: string) => ({ name: 'p', version: number, source }) as PolicyText;
const first = version(1, 'one');
const second = version(2, 'two');

test('a text that nobody has changed follows what is stored', () => {
  expect(afterVersion(firstDraft(first), second)).toEqual({ source: 'two', base: second });
  expect(afterVersion(firstDraft(first), first)).toEqual({ source: 'one', base: first });
});

test('what somebody has written stays, with the version that it began with', () => {
  const draft = { source: 'mine', base: first };
  expect(afterVersion(draft, second)).toBe(draft);
});

test('what was saved is the next base', () => {
  expect(afterVersion({ source: 'two', base: first }, second)).toEqual({ source: 'two', base: second });
});

test('the text of a file follows the file', () => {
  const [before, after] = [version(null, 'a'), version(null, 'b')];
  expect(afterVersion(firstDraft(before), after)).toEqual({ source: 'b', base: after });
});

test('a document that is being written is not lost, either', () => {
  const draft = { source: 'mine', base: undefined };
  expect(afterVersion(draft, undefined)).toBe(draft);
  expect(afterVersion(draft, second)).toBe(draft);
});
