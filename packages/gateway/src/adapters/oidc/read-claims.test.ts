import { expect, test } from 'vitest';
import { isIncomplete, readClaims } from './read-claims.ts';

const read = (token: object, userinfo: object = {}, claim = 'groups') =>
  readClaims({ ...token }, { ...userinfo }, claim);

test('a verification counts only for the email that it came with', () => {
  const isVerified = (token: object, userinfo: object = {}) => read(token, userinfo).isEmailVerified;
  expect(isVerified({ email: 'a@x', email_verified: true })).toBe(true);
  expect(isVerified({ email: 'a@x' }, { email: 'a@x', email_verified: true })).toBe(true);
  expect(isVerified({ email: 'a@x' }, { email: 'b@x', email_verified: true })).toBe(false);
  expect(isVerified({ email: 'a@x', email_verified: false }, { email: 'a@x', email_verified: true })).toBe(false);
  expect(isVerified({ email_verified: true }, { email: 'a@x' })).toBe(false);
  for (const odd of [1, 'yes', {}, [true], null, undefined]) {
    expect(isVerified({ email: 'a@x', email_verified: odd })).toBe(false);
  }
});

test('the ID token counts before userinfo', () => {
  expect(read({ email: 'a@x', groups: [] }, { email: 'b@x', name: 'B', groups: ['admins'] })).toMatchObject({
    email: 'a@x',
    name: 'B',
    roleValues: [],
  });
});

test('roles are a text or a list, by name or by a path, and nothing that is inherited', () => {
  expect(read({ groups: 'one' }).roleValues).toEqual(['one']);
  expect(read({ groups: ['a', 1, null, {}, 'b'] }).roleValues).toEqual(['a', 'b']);
  expect(read({ realm_access: { roles: ['a'] } }, {}, 'realm_access.roles').roleValues).toEqual(['a']);
  expect(read({ 'https://x.example/roles': ['a'] }, {}, 'https://x.example/roles').roleValues).toEqual(['a']);
  expect(read({}, {}, 'constructor.name').roleValues).toEqual([]);
});

test('oversized and odd values are left out', () => {
  expect(read({ email: 'a'.repeat(2000), name: 7, groups: ['x'.repeat(2000)] })).toEqual({
    email: null,
    isEmailVerified: false,
    name: '',
    roleValues: [],
  });
});

test('userinfo is asked as long as something is missing', () => {
  const whole = { email: 'a@x', email_verified: false, name: '', groups: [] };
  expect(isIncomplete(whole, 'groups')).toBe(false);
  for (const name of Object.keys(whole))
    expect(isIncomplete({ ...whole, [name]: undefined }, 'groups'), name).toBe(true);
});
