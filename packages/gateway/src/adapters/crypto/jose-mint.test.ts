import type { SigningKeyRecord, TokenClaims } from '@reeve/core';
import * as fc from 'fast-check';
import type { JWK } from 'jose';
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { JoseMint } from './jose-mint.ts';

const mint = new JoseMint();
let key: SigningKeyRecord;
let other: SigningKeyRecord;
beforeAll(async () => {
  key = await mint.makeKey(1);
  other = await mint.makeKey(2);
});

const inADay = Math.floor(Date.now() / 1000) * 1000 + 86_400_000;
const claims: TokenClaims = {
  sub: 'abcdefghijkl',
  kind: 'api_key',
  scopes: ['read', 'write'],
  orgId: 'acme',
  teamId: 'core',
  issuedAt: inADay - 86_400_000,
  expiresAt: inADay,
  tokenId: 'one',
};

const find = (kid: string) => [key, other].find((candidate) => candidate.kid === kid);

describe('a signing key', () => {
  test('is Ed25519, named by its thumbprint, and its public half has nothing of the private one', () => {
    const published = JSON.parse(key.publicJwk) as JWK;
    expect(published).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x: expect.any(String),
      kid: key.kid,
      alg: 'EdDSA',
      use: 'sig',
    });
    expect((JSON.parse(key.privateJwk) as JWK).d).toBeDefined();
    expect(key.kid).not.toBe(other.kid);
    expect(key.createdAt).toBe(1);
  });
});

describe('a token', () => {
  test('brings its claims back, with or without a binding', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          scopes: fc.subarray(['read', 'write', 'admin'] as const, { minLength: 1 }),
          orgId: fc.option(fc.string({ minLength: 1 }), { nil: null }),
          teamId: fc.option(fc.string({ minLength: 1 }), { nil: null }),
          tokenId: fc.string({ minLength: 1 }),
        }),
        async (members) => {
          const token = await mint.sign({ ...claims, ...members }, key);
          expect(await mint.verify(token, find)).toEqual({ ...claims, ...members });
        },
      ),
      { numRuns: 30 },
    );
  });

  test('names its algorithm and its key, and leaves out a binding that there is not', async () => {
    const token = await mint.sign({ ...claims, orgId: null, teamId: null }, key);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', kid: key.kid, typ: 'JWT' });
    expect(Object.keys(decodeJwt(token)).toSorted()).toEqual([
      'aud',
      'exp',
      'iat',
      'iss',
      'jti',
      'kind',
      'scope',
      'sub',
    ]);
  });

  test('is nothing without its key, or under another', async () => {
    const token = await mint.sign(claims, key);
    expect(await mint.verify(token, () => undefined)).toBeUndefined();
    expect(await mint.verify(token, () => other)).toBeUndefined();
  });

  test('is nothing once it has expired', async () => {
    const token = await mint.sign({ ...claims, expiresAt: Date.now() - 1000 }, key);
    expect(await mint.verify(token, find)).toBeUndefined();
  });

  test('with any byte changed is nothing', async () => {
    const token = await mint.sign(claims, key);
    // The last character of the signature has bits without meaning.
    const place = fc.integer({ min: 0, max: token.length - 2 });
    await fc.assert(
      fc.asyncProperty(place, fc.constantFrom('A', 'z', '0', '-', '.', ' '), async (at, char) => {
        const changed = token.slice(0, at) + char + token.slice(at + 1);
        fc.pre(changed !== token);
        expect(await mint.verify(changed, find)).toBeUndefined();
      }),
    );
  });

  test.each(['', '.', '..', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', 'x'.repeat(10_000), '\u0000.\u0000.\u0000'])(
    'is not %j',
    async (text) => {
      expect(await mint.verify(text, find)).toBeUndefined();
    },
  );

  test('of another kind, issuer or audience is nothing, whoever signed it', async () => {
    const privateKey = await importJWK(JSON.parse(key.privateJwk) as JWK, 'EdDSA');
    const genuine = decodeJwt(await mint.sign(claims, key));
    const sign = (changes: object) =>
      new SignJWT({ ...genuine, ...changes }).setProtectedHeader({ alg: 'EdDSA', kid: key.kid }).sign(privateKey);
    expect(await mint.verify(await sign({}), find)).toEqual(claims);
    for (const changes of [
      { kind: 'account' },
      { iss: 'x' },
      { aud: 'x' },
      { scope: 'read' },
      { sub: undefined },
      { jti: undefined },
      { iat: undefined },
      { exp: undefined },
    ]) {
      expect(await mint.verify(await sign(changes), find), JSON.stringify(changes)).toBeUndefined();
    }
    expect(await mint.verify(await sign({ scope: ['root', 'read', 7] }), find)).toEqual({
      ...claims,
      scopes: ['read'],
    });
  });
});

test('a signed text is a compact JWS that holds it, and no token', async () => {
  const signed = await mint.signText('{"a":1}', key);
  const publicKey = await importJWK(JSON.parse(key.publicJwk) as JWK, 'EdDSA');
  const { payload, protectedHeader } = await compactVerify(signed, publicKey);
  expect(new TextDecoder().decode(payload)).toBe('{"a":1}');
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: key.kid });
  expect(await mint.verify(signed, find)).toBeUndefined();
});
