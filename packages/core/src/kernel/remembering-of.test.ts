import { expect, test } from 'vitest';
import { rememberingOf } from './remembering-of.ts';

test('what was made of an object is made once, and is no other object’s', () => {
  let made = 0;
  const named = rememberingOf(({ name }: { readonly name: string }) => `${name} ${made++}`);
  const [one, other] = [{ name: 'a' }, { name: 'a' }];
  expect([named(one), named(other), named(one), named(other)]).toEqual(['a 0', 'a 1', 'a 0', 'a 1']);
});
