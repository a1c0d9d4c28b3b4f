import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TokenCheck } from '@reeve/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../../tests/harness/eventually.ts';
import type { Algorithm } from '../../../../../tests/harness/token-issuer.ts';
import { TokenIssuer } from '../../../../../tests/harness/token-issuer.ts';
import { sha256 } from '../crypto/node-crypto.ts';
import { JoseVerifier } from './jose-verifier.ts';
import type { Place } from './key-place.ts';
import { KeyPlace } from './key-place.ts';

let issuer: TokenIssuer;
let now = 0;
let elapsed = 0;
const open: KeyPlace[] = [];
beforeEach(async () => {
  issuer = await TokenIssuer.start();
  now = Date.now();
  elapsed = 0;
});
afterEach(async () => {
  for (const place of open.splice(0)) place.close();
  await issuer[Symbol.asyncDispose]();
});

function placeOf(place: Place): KeyPlace {
  const keys = new KeyPlace(place, { elapsed: () => elapsed, onChange: () => {} });
  open.push(keys);
  return keys;
}

function verifierOf(keys: KeyPlace = placeOf({ uri: issuer.jwksUri })): JoseVerifier {
  const settings = { issuer: issuer.url, audiences: ['reeve', 'other'] };
  return new JoseVerifier(settings, keys, { clock: { now: () => now, elapsed: () => elapsed }, sha256 });
}

const why = (check: TokenCheck) => (check.ok ? undefined : check.why);
const secondsFrom = (secs: number) => Math.floor(now / 1000) + secs;

describe('a token', () => {
  test.each<Algorithm>(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])('signed with %s is verified', async (alg) => {
    await issuer.addKey(alg);
    const exp = secondsFrom(100);
    const check = await verifierOf().verify(await issuer.sign({ sub: 'ada', exp }), 0);
    expect(check).toEqual({ ok: true, claims: expect.objectContaining({ sub: 'ada' }), expiresAt: exp * 1000 });
  });

  test('that was verified is answered at once, until it expires', async () => {
    const verifier = verifierOf();
    const token = await issuer.sign({ exp: secondsFrom(100) });
    expect(await verifier.verify(token, 0)).toMatchObject({ ok: true });
    expect(verifier.verify(token, 0)).toMatchObject({ ok: true });
    now += 101_000;
    expect(verifier.verify(token, 0)).toEqual({ ok: false, why: 'has expired' });
    expect(verifier.verify(token, 60)).toMatchObject({ ok: true });
    now += 60_000;
    expect(verifier.verify(token, 60)).toEqual({ ok: false, why: 'has expired' });
  });

  test.each([
    ['another issuer', { iss: 'https://else.example' }, 'is of another issuer'],
    ['no issuer', { iss: undefined }, 'is of another issuer'],
    ['another audience', { aud: ['x', 'y'] }, 'is for another audience'],
    ['no audience', { aud: undefined }, 'is for another audience'],
    ['no expiry', { exp: undefined }, 'does not say when it expires (exp)'],
    ['an expiry that is no time', { exp: 1e300 }, 'does not say when it expires (exp)'],
    ['an expiry that is a text', { exp: '99999999999' }, 'does not say when it expires (exp)'],
    ['a beginning that is no time', { nbf: 'now' }, 'does not say from when it holds (nbf)'],
  ])('with %s is refused at once', async (_what, claims, expected) => {
    const check = verifierOf().verify(await issuer.sign(claims), 60);
    expect(check).not.toBeInstanceOf(Promise);
    expect(why(await check)).toBe(expected);
  });

  test('holds from nbf, with leeway', async () => {
    const verifier = verifierOf();
    for (const leeway of [0, 60]) {
      const soon = await issuer.sign({ nbf: secondsFrom(30), exp: secondsFrom(600) });
      expect(why(await verifier.verify(soon, leeway))).toBeUndefined();
      const later = await issuer.sign({ nbf: secondsFrom(90), exp: secondsFrom(600) });
      expect(why(await verifier.verify(later, leeway))).toBe('is not valid yet');
    }
  });

  test('for one of several audiences is verified', async () => {
    expect(why(await verifierOf().verify(await issuer.sign({ aud: ['x', 'other'] }), 0))).toBeUndefined();
  });

  test('that is none is refused at once', () => {
    const verifier = verifierOf();
    for (const text of ['', 'rva_x', 'a.b.c', 'a.b', '..', 'eyJhbGciOiJub25lIn0.e30.', 'x'.repeat(16_385)]) {
      expect(verifier.verify(text, 0)).toMatchObject({ ok: false });
    }
  });

  test('of "none", or signed with a shared secret, is refused whatever it says', async () => {
    const verifier = verifierOf();
    const [, claims] = (await issuer.sign()).split('.');
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const alg of ['none', 'HS256', 'ES256K', 'RS1', 'Ed25519']) {
      const check = verifier.verify(`${part({ alg, kid: 'key-1' })}.${claims}.`, 0);
      expect(why(await check)).toContain('is not signed with one of');
    }
  });

  test('whose claims were changed has a wrong signature', async () => {
    const verifier = verifierOf();
    const [header, , signature] = (await issuer.sign({ sub: 'ada' })).split('.');
    const [, claims] = (await issuer.sign({ sub: 'bob' })).split('.');
    const forged = `${header}.${claims}.${signature}`;
    expect(why(await verifier.verify(forged, 0))).toBe('has a wrong signature');
    expect(why(await verifier.verify(forged, 0))).toBe('has a wrong signature');
  });

  test('that names no key is verified if one key fits', async () => {
    expect(why(await verifierOf().verify(await issuer.sign({}, { kid: undefined }), 0))).toBeUndefined();
    await issuer.addKey();
    expect(why(await verifierOf().verify(await issuer.sign({}, { kid: undefined }), 0))).toContain('with which key');
  });
});

describe('keys', () => {
  test('that are new are asked for at once, and at most once in 30 s', async () => {
    const keys = placeOf({ uri: issuer.jwksUri });
    const verifier = verifierOf(keys);
    await keys.started;
    await issuer.addKey();
    expect(why(await verifier.verify(await issuer.sign(), 0))).toBeUndefined();
    expect(issuer.asked).toBe(2);

    for (let made = 0; made < 50; made++) {
      const bad = await issuer.sign({}, { kid: `made-up-${made}` });
      expect(why(await verifier.verify(bad, 0))).toContain('does not publish');
    }
    expect(issuer.asked).toBe(2);
    elapsed += 30_000;
    await issuer.addKey();
    expect(why(await verifier.verify(await issuer.sign(), 0))).toBeUndefined();
    expect(issuer.asked).toBe(3);
  });

  test('that are withdrawn verify nothing any more, not even what they had verified', async () => {
    const verifier = verifierOf();
    const token = await issuer.sign();
    expect(why(await verifier.verify(token, 0))).toBeUndefined();
    issuer.keys.splice(0);
    await issuer.addKey();
    expect(why(await verifier.verify(await issuer.sign(), 0))).toBeUndefined();
    expect(why(await verifier.verify(token, 0))).toContain('does not publish');
  });

  test('of a file are read again when it changes, and stay while it is broken', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-keys-'));
    const file = join(folder, 'keys.json');
    writeFileSync(file, issuer.keySet());
    const keys = placeOf({ file });
    const verifier = verifierOf(keys);
    const first = await issuer.sign();
    expect(why(await verifier.verify(first, 0))).toBeUndefined();
    writeFileSync(file, '{"keys": "none"}');
    await eventually(() => expect(keys.failure).toContain('JSON Web Key Set'));
    expect(why(await verifier.verify(first, 0))).toBeUndefined();
    issuer.keys.splice(0);
    await issuer.addKey();
    writeFileSync(file, issuer.keySet());
    await eventually(() => expect(keys.failure).toBeUndefined());
    expect(why(await verifier.verify(await issuer.sign(), 0))).toBeUndefined();
    expect(why(await verifier.verify(first, 0))).toContain('does not publish');
    rmSync(folder, { recursive: true });
  });

  test('of a SPIFFE bundle are for signatures, too', async () => {
    issuer.behaviour = (response) =>
      response.end(JSON.stringify({ keys: issuer.keys.map(({ publicJwk }) => ({ ...publicJwk, use: 'jwt-svid' })) }));
    expect(why(await verifierOf().verify(await issuer.sign(), 0))).toBeUndefined();
  });

  test.each([
    ['is slow', () => {}],
    ['drips', (response: { write(text: string): void }) => void setInterval(() => response.write(' '), 50).unref()],
  ])('of an endpoint that %s: only who needs it waits, and not for long', async (_what, behaviour) => {
    const keys = placeOf({ uri: issuer.jwksUri });
    const verifier = verifierOf(keys);
    const known = await issuer.sign();
    expect(why(await verifier.verify(known, 0))).toBeUndefined();
    issuer.behaviour = behaviour;
    await issuer.addKey();
    const waiting = Promise.resolve(verifier.verify(await issuer.sign(), 0));
    expect(verifier.verify(known, 0)).toMatchObject({ ok: true });
    expect(why(await waiting)).toContain('does not publish');
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['redirects', (response) => response.writeHead(302, { location: issuer.jwksUri }).end()],
    ['is huge', (response) => response.end(' '.repeat(1_100_000))],
    ['is malformed', (response) => response.end('{"keys": [')],
    ['has no keys', (response) => response.end('{}')],
    ['fails', (response) => response.writeHead(500).end()],
    ['hangs up', (response) => response.destroy()],
  ])('of an endpoint that %s are not there, and the former ones stay', async (_what, behaviour) => {
    issuer.behaviour = behaviour;
    const keys = placeOf({ uri: issuer.jwksUri });
    const verifier = verifierOf(keys);
    const token = await issuer.sign();
    expect(why(await verifier.verify(token, 0))).toContain('cannot be had');
    expect(keys.failure).toBeTypeOf('string');
    issuer.behaviour = 'well';
    elapsed += 30_000;
    expect(why(await verifier.verify(token, 0))).toBeUndefined();
    issuer.behaviour = behaviour;
    elapsed += 30_000;
    expect(why(await verifier.verify(await issuer.sign({}, { kid: 'else' }), 0))).toContain('does not publish');
    expect(why(await verifier.verify(token, 0))).toBeUndefined();
  });
});
