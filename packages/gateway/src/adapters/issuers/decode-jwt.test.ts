import { expect, test } from 'vitest';
import { decodeJwt } from './decode-jwt.ts';

function jwt(header: object, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.c2ln`;
}

function nested(levels: number): object {
  let value: object = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

test('a token with an extension that nobody here understands is none', () => {
  expect(decodeJwt(jwt({ alg: 'RS256' }, { sub: 'a' }))).toMatchObject({ alg: 'RS256', claims: { sub: 'a' } });
  expect(decodeJwt(jwt({ alg: 'RS256', crit: ['b64'], b64: false }, { sub: 'a' }))).toBeUndefined();
});

test('a token whose claims are nested too deep is none', () => {
  expect(decodeJwt(jwt({ alg: 'RS256' }, nested(20)))).toBeDefined();
  expect(decodeJwt(jwt({ alg: 'RS256' }, nested(3000)))).toBeUndefined();
});
