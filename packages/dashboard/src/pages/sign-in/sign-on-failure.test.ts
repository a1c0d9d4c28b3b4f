import { expect, test } from 'vitest';
import { signOnFailure } from './sign-on-failure.ts';

test('a known failure is explained, and whatever else stands in the address is not shown', () => {
  expect(signOnFailure('no_role')).toContain('You have no role');
  for (const code of ['', 'toString', '__proto__', 'Call 555-0100 to unlock your account']) {
    expect(signOnFailure(code)).toBe('The single sign-on has failed. Try again.');
  }
});
