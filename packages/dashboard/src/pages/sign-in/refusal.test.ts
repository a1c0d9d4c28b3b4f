import { expect, test } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import { isShownAtField, memberRefusal, passwordRefusal, waitOf } from './refusal.ts';

test('only a refusal with a time to wait for has one', () => {
  const before = Date.now();
  const locked = waitOf(new ApiError(423, { code: 'account_locked', detail: 'locked' }, 900));
  expect(locked?.why).toContain('locked');
  expect(locked?.until).toBeGreaterThanOrEqual(before + 900_000);
  expect(waitOf(new ApiError(401, { code: 'wrong_credentials', detail: 'wrong' }))).toBeUndefined();
  expect(waitOf(new Error('other'))).toBeUndefined();
});

test('what is wrong with a password is said at its field, in a sentence', () => {
  const weak = new ApiError(422, {
    code: 'weak_password',
    detail: 'password: is among the first that anyone would try',
  });
  expect(passwordRefusal(weak)).toBe('The password is among the first that anyone would try.');
  expect(isShownAtField(weak, [])).toBe(true);
});

test('what is wrong with another member is said at its field only where the form has one', () => {
  const error = new ApiError(422, {
    code: 'validation_failed',
    detail: 'the request is not valid',
    errors: [{ pointer: '/email', detail: 'must be an email' }],
  });
  expect(memberRefusal(error, 'email')).toBe('must be an email');
  expect([isShownAtField(error, ['email']), isShownAtField(error, ['name'])]).toEqual([true, false]);
});
