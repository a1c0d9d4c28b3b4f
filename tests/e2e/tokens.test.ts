import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Problem, Route, RouteOutput, Routes } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import type { JSONWebKeySet, JWK, JWTPayload } from 'jose';
import {
  base64url,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

const exchangePath = '/api/v1/auth/token';
const me = '/api/v1/auth/me';
type Exchanged = RouteOutput<Routes['exchangeToken']>;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function jwks(from = gateway): Promise<JSONWebKeySet> {
  return (await from.api.get<JSONWebKeySet>('/.well-known/jwks.json')).body;
}

async function statusWith(bearer: string, from = gateway): Promise<number> {
  return (await from.api.get(me, bearer)).status;
}

describe('the exchange', () => {
  test.each<[string, unknown]>([
    ['no body', undefined],
    ['{}', {}],
  ])('with %s gives a token with all scopes of the key', async (_what, body) => {
    const { key } = await makeKey(gateway, { scopes: ['read', 'write'] });
    const answer = await gateway.api.post<Exchanged>(exchangePath, key, body);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).toSorted()).toEqual(['expires_at', 'scopes', 'token']);
    expect(answer.body.scopes).toEqual(['read', 'write']);
    expect((await gateway.api.get(me, answer.body.token)).body).toMatchObject({ scopes: ['read', 'write'] });
  });

  test.each([
    [['admin'], ['read'], ['read']],
    [['admin'], ['write', 'read'], ['read', 'write']],
    [['admin'], ['admin'], ['admin']],
    [['read', 'write', 'admin'], ['admin', 'admin'], ['admin']],
    [['write'], ['read'], ['read']],
    [['write'], ['write'], ['write']],
    [['read'], ['read'], ['read']],
  ] as const)('a key with %j may ask for %j and gets just that', async (granted, asked, given) => {
    const { key } = await makeKey(gateway, { scopes: [...granted] });
    const answer = await gateway.api.post<Exchanged>(exchangePath, key, { scopes: asked });
    expect(answer).toMatchObject({ status: 200, body: { scopes: given } });
    expect((await gateway.api.get(me, answer.body.token)).body).toMatchObject({ scopes: given });
  });

  test.each([
    [['read'], ['write'], 'write'],
    [['read'], ['read', 'admin'], 'admin'],
    [['write'], ['admin'], 'admin'],
    [['read', 'write'], ['read', 'write', 'admin'], 'admin'],
  ] as const)(
    'a key with %j that asks for %j gets a 403 that names %s, and no token',
    async (granted, asked, required) => {
      const { key } = await makeKey(gateway, { scopes: [...granted] });
      const entries = gateway.audit().length;
      const answer = await gateway.api.post<Problem>(exchangePath, key, { scopes: asked });
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ code: 'insufficient_scope', required_scope: required });
      expect(answer.body.detail).toContain(`"${required}"`);
      expect(answer.body).not.toHaveProperty('token');
      expect(gateway.audit()).toHaveLength(entries);
    },
  );

  test.each<[string, unknown, string]>([
    ['an empty list of scopes', { scopes: [] }, '/scopes'],
    ['an unknown scope', { scopes: ['root'] }, '/scopes/0'],
    ['scopes as a text', { scopes: 'read' }, '/scopes'],
    ['scopes that are null', { scopes: null }, '/scopes'],
    ['the word in the singular', { scope: ['read'] }, '/scope'],
    ['a life of its own choice', { ttl_secs: 5 }, '/ttl_secs'],
  ])('%s is a 422 that points at it', async (_what, body, pointer) => {
    const answer = await gateway.api.post<Problem>(exchangePath, bootstrapKey, body);
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ pointer }] } });
  });

  test('an absent, wrong, misspelt or revoked key is a 401, and so is a token', async () => {
    const { id, key } = await makeKey(gateway);
    const token = await tokenOf(gateway, key);
    await gateway.api.post(`/iam/api-keys/${id}/revoke`, bootstrapKey);
    const unknown = bootstrapKey.replace('abcdefghijkl', 'abcdefghijkm');
    const working = await tokenOf(gateway, bootstrapKey);
    for (const bearer of [undefined, '', 'x', unknown, `${bootstrapKey.slice(0, -1)}9`, key, token, working]) {
      const answer = await gateway.api.post<Problem>(exchangePath, bearer, { scopes: ['read'] });
      expect(answer.status, bearer).toBe(401);
      expect(answer.body, bearer).toMatchObject({ code: 'unauthenticated' });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(await statusWith(working)).toBe(200);
  });

  test('who asks for too much with a bad key learns only that the key is bad', async () => {
    for (const body of [{ scopes: [] }, { scopes: ['admin'] }, { what: 1 }]) {
      expect((await gateway.api.post(exchangePath, 'nonsense', body)).status).toBe(401);
    }
  });

  test('expires_at is in Unix seconds, 24 hours from now, as the token itself says', async () => {
    const { body } = await gateway.api.post<Exchanged>(exchangePath, bootstrapKey);
    const { iat = 0, exp = 0 } = decodeJwt(body.token);
    expect(body.expires_at).toBe(exp);
    expect(exp - iat).toBe(86_400);
    expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(600);
  });

  test('it is audited with the scopes, the request and the id of the token, never with the token', async () => {
    const { key, id } = await makeKey(gateway, { scopes: ['write'], org_id: 'acme', label: 'exchanger' });
    const headers = { 'x-request-id': 'exchange-7' };
    const { body } = await gateway.api.send<Exchanged>('POST', exchangePath, { bearer: key, headers });
    const entry = gateway.audit().at(-1);
    expect(entry).toMatchObject({
      event_type: 'TokenIssued',
      actor: { kind: 'api_key', id, label: 'exchanger' },
      lineage: { org_id: 'acme' },
      payload: { key_id: id, request_id: 'exchange-7', scopes: ['write'], token_id: decodeJwt(body.token).jti },
    });
    expect(JSON.stringify(entry)).not.toContain(body.token.split('.')[2]);
  });
});

describe('the token', () => {
  test('has the claims of the contract, and a binding only where the key has one', async () => {
    const bound = await makeKey(gateway, { scopes: ['read', 'write'], org_id: 'acme', team_id: 'core' });
    const claims = decodeJwt(await tokenOf(gateway, bound.key));
    expect(claims).toEqual({
      iss: expect.any(String),
      aud: expect.any(String),
      sub: bound.id,
      jti: expect.stringMatching(/^[0-9a-f]{32}$/),
      iat: expect.any(Number),
      exp: expect.any(Number),
      scope: ['read', 'write'],
      kind: 'api_key',
      org_id: 'acme',
      team_id: 'core',
    });
    const org = await makeKey(gateway, { org_id: 'acme' });
    expect(decodeJwt(await tokenOf(gateway, org.key))).not.toHaveProperty('team_id');
    const unbound = decodeJwt(await tokenOf(gateway, bootstrapKey));
    expect(unbound).not.toHaveProperty('org_id');
    expect(unbound.jti).not.toBe(claims.jti);
  });

  test('is EdDSA with a kid, and verifies with the published keys by any JOSE library', async () => {
    const token = await tokenOf(gateway, bootstrapKey);
    const published = await jwks();
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'EdDSA', kid: published.keys[0]?.kid });
    const { payload } = await jwtVerify(token, createLocalJWKSet(published), { algorithms: ['EdDSA'] });
    expect(payload.sub).toBe('abcdefghijkl');
    for (const key of published.keys) {
      expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', kid: expect.any(String) });
      expect(key).not.toHaveProperty('d');
    }
  });

  test('works wherever a raw key does, over gRPC too, within its scopes and its tenant', async () => {
    const { key } = await makeKey(gateway, { scopes: ['write'], org_id: 'acme', team_id: 'core' });
    const token = await tokenOf(gateway, key);
    const reading = await tokenOf(gateway, key, 'read');
    expect(await registerAs(gateway, token, { agentId: 'by-token' })).toMatchObject({ created: true });
    await expect(registerAs(gateway, reading, { agentId: 'x' })).rejects.toMatchObject({ code: 7 });
    await expect(registerAs(gateway, token, { agentId: 'x', orgId: 'globex' })).rejects.toMatchObject({ code: 7 });
    await expect(registerAs(gateway, token, { agentId: 'x', teamId: 'other' })).rejects.toMatchObject({ code: 7 });
    await expect(registerAs(gateway, `${token}x`, { agentId: 'x' })).rejects.toMatchObject({ code: 16 });
    expect((await gateway.api.get('/api/v1/agents/acme/core/by-token', reading)).status).toBe(200);
  });

  test('with fewer scopes than its key may do less than its key, on every route', async () => {
    const tokens = {
      read: await tokenOf(gateway, bootstrapKey, 'read'),
      write: await tokenOf(gateway, bootstrapKey, 'write'),
      admin: await tokenOf(gateway, bootstrapKey, 'admin'),
    };
    const order = ['read', 'write', 'admin'] as const;
    for (const [name, route] of Object.entries<Route>(routes)) {
      const needed = order.findIndex((scope) => scope === route.access);
      // Streams do not end. Their own tests check their access.
      if (needed === -1 || route.stream !== undefined) continue;
      for (const [rank, scope] of order.entries()) {
        const path = route.path.replaceAll(/\{\w+\}/g, 'nothing');
        // An unknown member keeps the call from doing anything once it has passed the access check.
        const json = route.method === 'GET' ? {} : { json: { nothing: true } };
        const answer = await gateway.api.send<Problem>(route.method, path, { bearer: tokens[scope], ...json });
        if (rank < needed) {
          expect(answer.status, `${name} with ${scope}`).toBe(403);
          expect(answer.body, name).toMatchObject({ code: 'insufficient_scope', required_scope: route.access });
        } else {
          expect([200, 404, 422], `${name} with ${scope}`).toContain(answer.status);
        }
      }
    }
  });
});

describe('what is not a token of this gateway', () => {
  let token: string;
  let published: JWK;
  beforeAll(async () => {
    token = await tokenOf(gateway, bootstrapKey);
    [published = {}] = (await jwks()).keys;
  });

  function encode(value: unknown): string {
    return base64url.encode(JSON.stringify(value));
  }

  async function expectRefused(...forged: string[]): Promise<void> {
    for (const bearer of forged) {
      expect(await statusWith(bearer), bearer).toBe(401);
      await expect(registerAs(gateway, bearer, { agentId: 'forged' })).rejects.toMatchObject({ code: 16 });
    }
    expect(await statusWith(token)).toBe(200);
  }

  test('a payload that was tampered with', async () => {
    const [head = '', , signature = ''] = token.split('.');
    const claims = decodeJwt(token);
    const changes: JWTPayload[] = [
      { ...claims, exp: (claims.exp ?? 0) + 1 },
      { ...claims, scope: ['admin'] },
      { ...claims, sub: 'mmmmmmmmmmmm' },
      { ...claims, org_id: 'acme' },
      {},
    ];
    await expectRefused(...changes.map((change) => [head, encode(change), signature].join('.')));
  });

  test('a signature that was tampered with, cut off or left out', async () => {
    const [head = '', body = '', signature = ''] = token.split('.');
    const turned = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    await expectRefused(
      [head, body, turned].join('.'),
      [head, body, signature.slice(0, -4)].join('.'),
      [head, body, ''].join('.'),
      [head, body].join('.'),
      [head, body, signature, signature].join('.'),
    );
  });

  test('alg none, in whatever spelling', async () => {
    const [, body = '', signature = ''] = token.split('.');
    const heads = ['none', 'None', 'NONE', '', null].map((alg) => encode({ alg, kid: published.kid, typ: 'JWT' }));
    await expectRefused(...heads.flatMap((head) => [`${head}.${body}.`, `${head}.${body}.${signature}`]));
  });

  test('HS256 with the public key as the secret, in whatever form', async () => {
    const spki = createPublicKey({ key: published, format: 'jwk' });
    const secrets = [
      Buffer.from(published.x ?? '', 'base64url'),
      Buffer.from(published.x ?? ''),
      Buffer.from(JSON.stringify(published)),
      spki.export({ type: 'spki', format: 'der' }),
      Buffer.from(spki.export({ type: 'spki', format: 'pem' })),
      Buffer.from('reeve'),
    ];
    const forged = secrets.map((secret) =>
      new SignJWT(decodeJwt(token))
        .setProtectedHeader({ alg: 'HS256', kid: published.kid ?? '', typ: 'JWT' })
        .sign(Uint8Array.from(secret)),
    );
    await expectRefused(...(await Promise.all(forged)));
  });

  test.each(['EdDSA', 'RS256', 'ES256', 'PS512'])('a foreign %s key under the same kid', async (alg) => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = await exportJWK(publicKey);
    const sign = (header: Record<string, unknown>) =>
      new SignJWT(decodeJwt(token)).setProtectedHeader({ alg, ...header }).sign(privateKey);
    await expectRefused(
      await sign({ kid: published.kid }),
      await sign({ kid: published.kid, jwk }),
      await sign({ kid: 'another', jwk }),
      await sign({ jku: 'https://evil.example/jwks.json', kid: 'another' }),
      await sign({}),
    );
    // Even if the header claims the algorithm of the gateway.
    const [, body = '', signature = ''] = (await sign({ kid: published.kid })).split('.');
    await expectRefused(`${encode({ alg: 'EdDSA', kid: published.kid })}.${body}.${signature}`);
  });

  test('other claims, even under the signature of the gateway itself', async () => {
    const db = new DatabaseSync(join(gateway.folder, 'reeve.db'), { readOnly: true });
    const row = db.prepare('SELECT private_jwk FROM signing_keys WHERE kid = ?').get(published.kid ?? '');
    db.close();
    const privateKey = await importJWK(JSON.parse(String(row?.['private_jwk'])) as JWK, 'EdDSA');
    const claims = decodeJwt(token);
    const sign = (changed: JWTPayload) =>
      new SignJWT(changed).setProtectedHeader({ alg: 'EdDSA', kid: published.kid ?? '' }).sign(privateKey);
    expect(await statusWith(await sign(claims))).toBe(200);
    const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== name));
    const changed = [
      { ...claims, iss: 'another' },
      { ...claims, aud: 'another' },
      { ...claims, exp: Math.floor(Date.now() / 1000) - 1 },
      { ...claims, nbf: Math.floor(Date.now() / 1000) + 3600 },
      { ...claims, sub: 'mmmmmmmmmmmm' },
      { ...claims, kind: 'account' },
      { ...claims, scope: 'admin' },
      ...['iss', 'aud', 'exp', 'sub', 'jti', 'kind', 'scope'].map(without),
    ];
    await expectRefused(...(await Promise.all(changed.map(sign))));
    const powerless = await sign({ ...claims, scope: ['root', 'ADMIN'] });
    expect((await gateway.api.get('/api/v1/logs', powerless)).status).toBe(403);
  });
});

describe('rotating the signing key', () => {
  test('signs new tokens with a new key, and logs nobody out, also after a restart', async () => {
    await using first = await TestGateway.start();
    const before = await tokenOf(first, bootstrapKey);
    const headers = { 'x-request-id': 'rotating' };
    const path = '/api/v1/iam/signing-keys/rotate';
    const { status, body } = await first.api.send<{ kid: string }>('POST', path, { bearer: before, headers });
    expect(status).toBe(201);
    expect(first.audit().at(-1)).toMatchObject({
      event_type: 'SigningKeyRotated',
      actor: { kind: 'api_key', id: 'abcdefghijkl' },
      payload: { kid: body.kid, request_id: 'rotating' },
    });
    const after = await tokenOf(first, bootstrapKey);
    expect(decodeProtectedHeader(after).kid).toBe(body.kid);
    expect(decodeProtectedHeader(before).kid).not.toBe(body.kid);
    const published = await jwks(first);
    expect(published.keys.map((key) => key.kid)).toEqual([decodeProtectedHeader(before).kid, body.kid]);
    for (const token of [before, after]) {
      await jwtVerify(token, createLocalJWKSet(published));
      expect(await statusWith(token, first)).toBe(200);
    }
    await first.api.post(path, bootstrapKey);
    expect(await statusWith(before, first)).toBe(200);

    await using second = await first.restart('SIGKILL');
    expect(await jwks(second)).toEqual(await jwksOfThree(second, published));
    for (const token of [before, after]) {
      expect(await statusWith(token, second)).toBe(200);
      await registerAs(second, token, { agentId: 'still-here' });
    }
    const newest = decodeProtectedHeader(await tokenOf(second, bootstrapKey)).kid;
    expect(newest).toBe((await jwks(second)).keys[2]?.kid);
  });

  /** The two keys published before, and the third. */
  async function jwksOfThree(from: TestGateway, before: JSONWebKeySet): Promise<JSONWebKeySet> {
    const { keys } = await jwks(from);
    expect(keys).toHaveLength(3);
    return { keys: [...before.keys, ...keys.slice(2)] };
  }

  test('gives up the private half of a key once every token of its has expired, and still publishes the other', async () => {
    await using quick = await TestGateway.start({ env: { SVC_TOKEN_TTL_SECS: '1' } });
    const [first] = (await jwks(quick)).keys;
    const rotate = () => quick.api.post('/api/v1/iam/signing-keys/rotate', bootstrapKey);
    const privateHalf = () => {
      const db = new DatabaseSync(join(quick.folder, 'reeve.db'), { readOnly: true });
      const row = db.prepare('SELECT private_jwk FROM signing_keys WHERE kid = ?').get(first?.kid ?? '');
      db.close();
      return row?.['private_jwk'];
    };
    await rotate();
    expect(privateHalf()).not.toBe('');
    await eventually(async () => {
      await rotate();
      expect(privateHalf()).toBe('');
    });
    expect((await jwks(quick)).keys.map((key) => key.kid)).toContain(first?.kid);
  });
});

test('a token does not outlive the key it was made from, wherever it is verified', async () => {
  const { key, expires_at } = await makeKey(gateway, { scopes: ['read'], ttl_secs: 60 });
  const { body } = await gateway.api.post<Exchanged>(exchangePath, key);
  expect(body.expires_at).toBe(Math.floor(Date.parse(expires_at ?? '') / 1000));
  expect(decodeJwt(body.token).exp).toBe(body.expires_at);
});

test('how to log in is public: an API key, and a password where there is an account store', async () => {
  const { status, body } = await gateway.api.get('/api/v1/auth/methods');
  expect(status).toBe(200);
  expect(body).toEqual({ methods: ['api_key', 'password'] });
});

test('a token ends when its time is over, on HTTP and gRPC, and the key goes on', async () => {
  await using quick = await TestGateway.start({ env: { SVC_TOKEN_TTL_SECS: '5' } });
  const { body } = await quick.api.post<Exchanged>(exchangePath, bootstrapKey);
  const { iat = 0, exp = 0 } = decodeJwt(body.token);
  expect(body.expires_at).toBe(exp);
  expect(exp - iat).toBe(5);
  expect(await statusWith(body.token, quick)).toBe(200);
  await registerAs(quick, body.token, { agentId: 'in-time' });
  await eventually(async () => expect(await statusWith(body.token, quick)).toBe(401));
  expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000);
  await expect(registerAs(quick, body.token, { agentId: 'too-late' })).rejects.toMatchObject({ code: 16 });
  expect(await statusWith(bootstrapKey, quick)).toBe(200);
  expect((await quick.api.post(exchangePath, bootstrapKey)).status).toBe(200);
});
