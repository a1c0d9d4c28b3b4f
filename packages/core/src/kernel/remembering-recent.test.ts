import { expect, test } from 'vitest';
import { rememberingRecent } from './remembering-recent.ts';

test('what was made of an object is made once while it is asked for, and is no other object’s', () => {
  let made = 0;
  const named = rememberingRecent(({ name }: { readonly name: string }) => `${name} ${made++}`);
  const [one, other] = [{ name: 'a' }, { name: 'a' }];
  expect([named(one), named(other), named(one), named(other)]).toEqual(['a 0', 'a 1', 'a 0', 'a 1']);
});

test('what was asked for long ago is made again', () => {
  let made = 0;
  const named = rememberingRecent(({ name }: { readonly name: string }) => `${name} ${made++}`, 2);
  const first = { name: 'a' };
  expect(named(first)).toBe('a 0');
  for (let nth = 0; nth < 4; nth++) named({ name: 'b' });
  expect(named(first)).toBe('a 5');
});
