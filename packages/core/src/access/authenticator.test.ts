import { beforeEach, describe, expect, test } from 'vitest';
import type { Role } from './principal.ts';
import { plainMint } from '../testkit/plain-mint.ts';
import { operator, operatorKey } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { portsOf } from '../testkit/ports-of.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import type { Access } from './access.ts';
import { makeApiKey, newKeyRecord } from './api-key.ts';
import type { ApiKeyRecord } from './api-key.ts';
import type { Binding } from './authority.ts';
import type { FoundLogin } from './authenticator.ts';
import { Authenticator } from './authenticator.ts';
import { exchangeToken } from './exchange-token.ts';
import { KeyRing } from './key-ring.ts';
import { revokeKey, rotateSigningKey } from './manage-keys.ts';
import { credentialRings } from '../testkit/credential-rings.ts';

const tokenTtlMs = 86_400_000;

let world: TestGovernance;
let access: Access;
let authenticator: Authenticator;
let key: string;
let record: ApiKeyRecord;

beforeEach(async () => {
  world = await testGovernance();
  key = makeApiKey(world.gov.randomness);
  record = newKeyRecord(key, sha256, world.clock.now(), {
    label: 'ci',
    scopes: ['write'],
    orgId: 'acme',
    teamId: null,
    expiresAt: world.clock.now() + 1_000_000,
    madeBy: null,
    rotatedFrom: null,
  });
  access = {
    ...portsOf(world.gov),
    ...credentialRings(world.gov, [record, operatorKey]),
    mint: plainMint(),
    tokenTtlMs,
  };
  authenticator = new Authenticator(access);
  await inTurn(rotateSigningKey(access, operator));
});

/** Ends the turn after the work has recorded its entries. The work awaits a signature first. */
async function inTurn<Result>(work: Promise<Result>): Promise<Result> {
  await new Promise((resolve) => setImmediate(resolve));
  return await world.settle(work);
}

/** The caller that shows the key. */
const holder = () => authenticator.authenticateKey(`Bearer ${key}`);

async function token(scopes?: ('read' | 'write')[]): Promise<string> {
  return (await inTurn(exchangeToken(access, await holder(), scopes))).token;
}

describe('a caller', () => {
  test.each([
    ['as usual', (k: string) => `Bearer ${k}`],
    ['in lower case', (k: string) => `bearer ${k}`],
    ['in upper case', (k: string) => `BEARER ${k}`],
    ['with two blanks', (k: string) => `Bearer  ${k}`],
  ])('that presents its key, %s, is known', async (_, write) => {
    expect(await authenticator.authenticate(write(key))).toEqual({
      actor: { id: record.id, kind: 'api_key', label: 'ci' },
      credentialId: record.id,
      scopes: ['write'],
      orgId: 'acme',
      teamId: null,
      expiresAt: record.expiresAt,
      asOf: 0,
    });
  });

  test.each([
    ['nothing', () => undefined],
    ['an empty value', () => ''],
    ['the key alone', () => key],
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a blank', () => 'Bearer '],
    ['another scheme', () => `Basic ${key}`],
    ['more than a key', () => `Bearer ${key} ${key}`],
    ['a blank before it', () => ` Bearer ${key}`],
    ['a tab for the blank', () => `Bearer\t${key}`],
  ])('that presents %s is told what is needed', async (_, authorization) => {
    await expect(authenticator.authenticate(authorization())).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringContaining('Authorization: Bearer') as string,
    });
  });

  test.each([
    ['a key with a typo', () => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    ['something else', () => 'made-up'],
    ['a key that nobody has made', () => makeApiKey(world.gov.randomness)],
    ['the id of a key', () => record.id],
    ['the hash of a key', () => record.hash],
  ])('that presents %s is refused, and not told why', async (_, bearer) => {
    await expect(authenticator.authenticate(`Bearer ${bearer()}`)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'the credential is not valid: it is wrong, expired or revoked',
    });
    await expect(authenticator.authenticateKey(`Bearer ${bearer()}`)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('with another secret under a known id is refused', async () => {
    let other = makeApiKey(world.gov.randomness);
    const keys = new KeyRing(world.clock, sha256, [{ ...record, id: other.slice(4, 16) }]);
    const strict = new Authenticator({ ...access, keys });
    await expect(strict.authenticate(`Bearer ${other}`)).rejects.toMatchObject({ code: 'unauthenticated' });
    other = '';
  });

  test('with a key that has expired is refused, from the very moment', async () => {
    world.clock.advance(999_999);
    await authenticator.authenticate(`Bearer ${key}`);
    world.clock.advance(1);
    await expect(authenticator.authenticate(`Bearer ${key}`)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('with a key that was revoked is refused at once', async () => {
    await inTurn(revokeKey(access, operator, record.id));
    await expect(authenticator.authenticate(`Bearer ${key}`)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('a token', () => {
  test('stands for its key, with the scopes it was made for', async () => {
    const principal = await authenticator.authenticate(`Bearer ${await token(['read'])}`);
    expect(principal).toMatchObject({
      actor: { id: record.id, kind: 'api_key', label: 'ci' },
      credentialId: record.id,
      scopes: ['read'],
      orgId: 'acme',
      expiresAt: record.expiresAt,
    });
  });

  test('without scopes asked for has those of the key', async () => {
    const issued = await inTurn(exchangeToken(access, await holder(), undefined));
    expect(issued).toMatchObject({ scopes: ['write'], expiresAt: record.expiresAt });
  });

  test('of a key without an end lives for its own time', async () => {
    const issued = await inTurn(exchangeToken(access, { ...(await holder()), expiresAt: null }, undefined));
    expect(issued.expiresAt).toBe(world.clock.now() + tokenTtlMs);
  });

  test('above the grant is refused, and none is made', async () => {
    const entries = (await world.audit()).length;
    await expect(exchangeToken(access, await holder(), ['read', 'admin'])).rejects.toMatchObject({
      code: 'insufficient_scope',
      facts: { required_scope: 'admin' },
    });
    expect(await world.audit()).toHaveLength(entries);
  });

  test('is on record, but not as it is', async () => {
    const made = await token();
    const entry = (await world.audit()).at(-1);
    expect(entry).toMatchObject({
      event_type: 'TokenIssued',
      actor: { id: record.id },
      lineage: { org_id: 'acme' },
      payload: { key_id: record.id },
    });
    expect(JSON.stringify(entry)).not.toContain(made);
  });

  test('cannot be exchanged for another', async () => {
    const made = await token();
    await expect(authenticator.authenticateKey(`Bearer ${made}`)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('stops with its key, also where it was used before', async () => {
    const made = await token();
    const principal = await authenticator.authenticate(`Bearer ${made}`);
    expect(await authenticator.isStillValid(principal)).toBe(true);
    await inTurn(revokeKey(access, operator, record.id));
    await expect(authenticator.authenticate(`Bearer ${made}`)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await authenticator.isStillValid(principal)).toBe(false);
  });

  test('stops when its key expires', async () => {
    const made = await token();
    const principal = await authenticator.authenticate(`Bearer ${made}`);
    world.clock.advance(1_000_000);
    await expect(authenticator.authenticate(`Bearer ${made}`)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await authenticator.isStillValid(principal)).toBe(false);
  });

  test('ends at its time, also where it was used before', async () => {
    record = { ...record, expiresAt: null };
    world.gov.keys.put(record);
    const made = await token();
    await authenticator.authenticate(`Bearer ${made}`);
    world.clock.advance(tokenTtlMs - 1);
    await authenticator.authenticate(`Bearer ${made}`);
    world.clock.advance(1);
    await expect(authenticator.authenticate(`Bearer ${made}`)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('outlives the rotation of the signing key, whose private half is given up once no token needs it', async () => {
    record = { ...record, expiresAt: null };
    world.gov.keys.put(record);
    const made = await token();
    await inTurn(rotateSigningKey(access, operator));
    await new Authenticator(access).authenticate(`Bearer ${made}`);
    world.clock.advance(tokenTtlMs + 1);
    await inTurn(rotateSigningKey(access, operator));
    const halves = access.signingKeys.all().map((signing) => signing.privateJwk !== '');
    expect(halves).toEqual([false, true, true]);
    await expect(new Authenticator(access).authenticate(`Bearer ${made}`)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('that was tampered with is refused', async () => {
    const [kid, text = '', seal] = (await token(['read'])).split('.');
    const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, scopes: ['admin'] })).toString('base64url');
    await expect(authenticator.authenticate(`Bearer ${kid}.${forged}.${seal}`)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });
});

test('when a key was last used is known, and written when asked for', async () => {
  expect(access.keys.find(record.id)?.lastUsedAt).toBeNull();
  world.clock.advance(5);
  await authenticator.authenticate(`Bearer ${key}`);
  expect(access.keys.find(record.id)?.lastUsedAt).toBe(world.clock.now());
  expect(access.keys.unwritten()).toEqual([{ id: record.id, at: world.clock.now() }]);
});

describe('a token of a person', () => {
  const login: FoundLogin = {
    accountId: 'acc_1',
    sessionId: 'ses_1',
    role: 'developer',
    email: 'dev@example.com',
    orgId: null,
    teamId: null,
  };
  let logins: Map<string, FoundLogin>;
  let people: Authenticator;
  let bearer: string;

  beforeEach(async () => {
    logins = new Map([[login.sessionId, login]]);
    people = new Authenticator(access, {
      findLogin: (id) => Promise.resolve(logins.get(id)),
      findRoles: () => Promise.resolve(undefined),
    });
    const { current } = access.signingKeys;
    if (current === undefined) throw new Error('there is no signing key');
    const now = world.clock.now();
    const token = await access.mint.sign(
      {
        sub: 'acc_1',
        kind: 'account',
        sessionId: 'ses_1',
        role: 'owner',
        scopes: ['read', 'write', 'admin'],
        orgId: null,
        teamId: null,
        issuedAt: now,
        expiresAt: now + 900_000,
        tokenId: 't',
      },
      current,
    );
    bearer = `Bearer ${token}`;
  });

  test('is that person, with the role of now and not of then', async () => {
    expect(await people.authenticate(bearer)).toMatchObject({
      actor: { id: 'acc_1', kind: 'account', label: 'dev@example.com' },
      credentialId: 'acc_1',
      login: { sessionId: 'ses_1', role: 'developer' },
      scopes: ['read', 'write'],
      orgId: null,
    });
  });

  test('stops with the session, at once, and so does a stream that it has opened', async () => {
    const principal = await people.authenticate(bearer);
    expect(await people.isStillValid(principal)).toBe(true);
    logins.clear();
    expect(await people.isStillValid(principal)).toBe(false);
    await expect(people.authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('stops when its time is over, and is nothing to a gateway without accounts', async () => {
    await expect(authenticator.authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
    world.clock.advance(900_000);
    await expect(people.authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('of another account’s session is refused', async () => {
    logins.set('ses_1', { ...login, accountId: 'acc_2' });
    await expect(people.authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('acts in the tenant that the account is bound to now, and its streams end when that changes', async () => {
    const before = await people.authenticate(bearer);
    expect(await people.isStillValid(before)).toBe(true);
    logins.set('ses_1', { ...login, orgId: 'acme', teamId: 'core' });
    expect(await people.authenticate(bearer)).toMatchObject({ orgId: 'acme', teamId: 'core' });
    expect(await people.isStillValid(before)).toBe(false);
  });

  test('goes on with no right that the account has lost: its streams and tickets end when its role changes', async () => {
    logins.set('ses_1', { ...login, role: 'owner' });
    const owner = await people.authenticate(bearer);
    logins.set('ses_1', { ...login, role: 'admin' });
    const admin = await people.authenticate(bearer);
    expect([await people.isStillValid(owner), await people.renew(owner)]).toEqual([false, undefined]);
    expect(await people.isStillValid(admin)).toBe(true);
    logins.set('ses_1', { ...login, role: 'viewer' });
    expect([await people.isStillValid(admin), await people.renew(admin)]).toEqual([false, undefined]);
  });
});

describe('a key that comes from an account', () => {
  let role: Role | undefined;
  let binding: Binding;
  let asked: (readonly string[])[];
  let people: Authenticator;

  beforeEach(() => {
    role = 'admin';
    binding = { orgId: null, teamId: null };
    asked = [];
    people = new Authenticator(access, {
      findLogin: () => Promise.resolve(undefined),
      findRoles: (ids) => {
        asked.push(ids);
        return Promise.resolve(
          role === undefined ? undefined : ids.map(() => ({ role: role ?? 'viewer', ...binding })),
        );
      },
    });
    // A person made this key, and made the tested key with it.
    world.gov.keys.put({ ...record, id: 'mothermother', madeBy: { kind: 'account', id: 'acc_1' } });
    world.gov.keys.put({ ...record, madeBy: { kind: 'api_key', id: 'mothermother' } });
  });

  test('acts only in the tenant that the account is bound to, and not at all in another', async () => {
    const bearer = `Bearer ${key}`;
    const before = await people.authenticate(bearer);
    binding = { orgId: 'acme', teamId: 'core' };
    expect(await people.authenticate(bearer)).toMatchObject(binding);
    expect(await people.authenticateKey(bearer)).toMatchObject(binding);
    expect(await people.isStillValid(before)).toBe(false);
    world.gov.keys.put({ ...record, orgId: 'globex', madeBy: { kind: 'api_key', id: 'mothermother' } });
    await expect(people.authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('works while it is active, on every way in, and stops when it is not', async () => {
    const bearer = `Bearer ${key}`;
    const principal = await people.authenticate(bearer);
    const made = `Bearer ${await inTurn(exchangeToken(access, await people.authenticateKey(bearer), undefined)).then(
      (issued) => issued.token,
    )}`;
    expect(await people.authenticate(made)).toMatchObject({ credentialId: record.id });
    expect(await people.isStillValid(principal)).toBe(true);
    role = undefined;
    for (const credential of [bearer, made]) {
      await expect(people.authenticate(credential)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await expect(people.authenticateKey(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await people.isStillValid(principal)).toBe(false);
    role = 'admin';
    expect(await people.authenticate(made)).toMatchObject({ credentialId: record.id });
    expect(asked.every((ids) => ids.length === 1 && ids[0] === 'acc_1')).toBe(true);
  });

  test('does no more than the role of that account allows now', async () => {
    world.gov.keys.put({ ...record, scopes: ['admin'], madeBy: { kind: 'api_key', id: 'mothermother' } });
    const bearer = `Bearer ${key}`;
    const made = await inTurn(exchangeToken(access, await people.authenticateKey(bearer), undefined));
    const scopesNow = async () => [
      (await people.authenticate(bearer)).scopes,
      (await people.authenticateKey(bearer)).scopes,
      (await people.authenticate(`Bearer ${made.token}`)).scopes,
    ];
    expect(await scopesNow()).toEqual([['admin'], ['admin'], ['admin']]);
    const admin = await people.authenticate(bearer);
    role = 'developer';
    // What was opened with more does not go on with it.
    expect([await people.isStillValid(admin), await people.renew(admin)]).toEqual([false, undefined]);
    const developer = await people.authenticate(bearer);
    expect(await people.isStillValid(developer)).toBe(true);
    expect(await scopesNow()).toEqual(Array.from({ length: 3 }, () => ['read', 'write']));
    role = 'viewer';
    expect(await scopesNow()).toEqual(Array.from({ length: 3 }, () => ['read']));
    role = 'owner';
    expect(await scopesNow()).toEqual([['admin'], ['admin'], ['admin']]);
  });

  test('is found out where the key that it was made with arrives later', async () => {
    world.gov.keys.remove('mothermother');
    world.gov.keys.put({ ...record, id: 'daughter', madeBy: { kind: 'api_key', id: 'mothermother' } });
    expect(access.keys.accountsBehind('daughter')).toEqual([]);
    world.gov.keys.put({ ...record, id: 'mothermother', madeBy: { kind: 'account', id: 'acc_2' } });
    expect(access.keys.accountsBehind('daughter')).toEqual(['acc_2']);
  });

  test('asks nobody where there is none behind it', async () => {
    world.gov.keys.put({ ...record, madeBy: null });
    role = undefined;
    expect(await people.authenticate(`Bearer ${key}`)).toMatchObject({ credentialId: record.id });
    expect(asked).toEqual([]);
  });
});
