import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { TokenCache } from './token-cache.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function endpoint(lastsMs: number | undefined) {
  let asked = 0;
  return async () => ({ token: `token-${++asked}`, lastsMs, issuedType: undefined });
}

it('asks once for all who wait, and again before the token ends', async () => {
  const cache = new TokenCache();
  const request = endpoint(600_000);
  const both = await Promise.all([cache.find('a', request), cache.find('a', request)]);
  expect(both).toEqual(['token-1', 'token-1']);
  vi.advanceTimersByTime(569_000);
  expect(await cache.find('a', request)).toBe('token-1');
  vi.advanceTimersByTime(2000);
  expect(await cache.find('a', request)).toBe('token-2');
});

it('uses a token under its own key alone', async () => {
  const cache = new TokenCache();
  const request = endpoint(undefined);
  expect([await cache.find('a', request), await cache.find('b', request)]).toEqual(['token-1', 'token-2']);
});

it('keeps no failure, and gives it to all who wait', async () => {
  const cache = new TokenCache();
  const failing = async () => Promise.reject(new Error('away'));
  const results = await Promise.allSettled([cache.find('a', failing), cache.find('a', failing)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await cache.find('a', endpoint(1000))).toBe('token-1');
});

it('drops a token that the server refused, and not the one that came after it', async () => {
  const cache = new TokenCache();
  const request = endpoint(600_000);
  await cache.find('a', request);
  expect(await cache.drop('a', 'another')).toBe(false);
  expect(await cache.drop('a', 'token-1')).toBe(true);
  expect(await cache.find('a', request)).toBe('token-2');
  expect(await cache.drop('a', 'token-1')).toBe(false);
});

it('forgets the oldest when there are too many', async () => {
  const cache = new TokenCache();
  const request = endpoint(600_000);
  for (let at = 0; at <= 10_000; at++) await cache.find(String(at), request);
  expect(await cache.find('10000', request)).toBe('token-10001');
  expect(await cache.find('0', request)).toBe('token-10002');
});
