import { ReeveError } from '@reeve/core';
import { expect, test } from 'vitest';
import { problemOf } from './problem.ts';

function shown(error: unknown): ReturnType<typeof problemOf> {
  return problemOf(error, '/api/v1/auth/login', (unexpected) => expect.fail(String(unexpected)));
}

test('a weak password is a 422 that points at the member and says what would be right', () => {
  const detail = 'password: must have at least 12 characters; this one has 11';
  const { problem } = shown(new ReeveError('weak_password', detail, { field: 'password' }));
  expect(problem).toEqual({
    type: 'about:blank',
    title: 'Unprocessable Entity',
    status: 422,
    detail,
    instance: '/api/v1/auth/login',
    code: 'weak_password',
    errors: [{ pointer: '/password', detail: 'must have at least 12 characters; this one has 11' }],
  });
});

test('an error that knows when to try again says so in Retry-After', () => {
  const { problem, headers } = shown(new ReeveError('overloaded', 'try again', { retry_after_secs: 5 }));
  expect(problem).toMatchObject({ status: 503, code: 'overloaded', retry_after_secs: 5 });
  expect(headers).toEqual({ 'retry-after': '5' });
});

test('an error that does not know it says nothing', () => {
  expect(shown(new ReeveError('store_unavailable', 'the store is away')).headers).toEqual({});
});
