import { expect, test } from 'vitest';
import { rememberingOf, rememberingRecent } from './remembering-of.ts';

interface Named {
  readonly name: string;
}

test.each([
  ['as long as it is there', rememberingOf],
  ['while it is asked for', rememberingRecent],
])('what was made of an object is made once %s, and is no other object’s', (_, remembering) => {
  let made = 0;
  const named = remembering(({ name }: Named) => `${name} ${made++}`);
  const [one, other] = [{ name: 'a' }, { name: 'a' }];
  expect([named(one), named(other), named(one), named(other)]).toEqual(['a 0', 'a 1', 'a 0', 'a 1']);
});

test('what was asked for long ago is made again', () => {
  let made = 0;
  const named = rememberingRecent(({ name }: Named) => `${name} ${made++}`, 2);
  const first = { name: 'a' };
  expect(named(first)).toBe('a 0');
  for (let nth = 0; nth < 4; nth++) named({ name: 'b' });
  expect(named(first)).toBe('a 5');
});
