import { describe, expect, test } from 'vitest';
import { plainMint } from '../testkit/plain-mint.ts';
import { operator, operatorKey } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { portsOf } from '../testkit/ports-of.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import type { Access } from './access.ts';
import type { ApiKeyRecord } from './api-key.ts';
import { parseApiKey } from './api-key.ts';
import { EndedCredentials } from './access.ts';
import {
  installFirstKey,
  createKey,
  listKeys,
  replaceLostKey,
  revokeKey,
  rotateKey,
  rotateSigningKey,
} from './manage-keys.ts';
import { KeyRing } from './key-ring.ts';
import type { KeyGrant } from './manage-keys.ts';
import type { Principal } from './principal.ts';
import { credentialRings } from '../testkit/credential-rings.ts';

const bootstrap = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';
const grant: KeyGrant = { label: 'ci', scopes: ['read', 'write'], orgId: null, teamId: null, ttlMs: null };
const acme: Principal = { ...operator, orgId: 'acme' };

async function setUp(
  apiKeys: readonly ApiKeyRecord[] = [operatorKey],
): Promise<{ test: TestGovernance; access: Access }> {
  const test = await testGovernance();
  return {
    test,
    access: {
      ...portsOf(test.gov),
      ...credentialRings(test.gov, apiKeys),
      mint: plainMint(),
      tokenTtlMs: 1000,
    },
  };
}

describe('the first key', () => {
  test('is made where there is none, returned once, and on record without itself', async () => {
    const { test, access } = await setUp([]);
    const made = await test.settle(installFirstKey(access, undefined));
    expect(parseApiKey(made ?? '').ok).toBe(true);
    expect(access.keys.recognise(made ?? '')?.scopes).toEqual(['read', 'write', 'admin']);
    const kept = JSON.stringify([await test.audit(), await test.store.load()]);
    expect(kept).not.toContain(made?.slice(17));
    expect(await test.audit()).toMatchObject([{ event_type: 'ApiKeyCreated', actor: { kind: 'system' } }]);
    expect(await test.settle(installFirstKey(access, undefined))).toBeUndefined();
    expect(access.keys.size).toBe(1);
  });

  test('may be given: it is installed once, with all scopes, and nothing is shown', async () => {
    const { test, access } = await setUp([]);
    expect(await test.settle(installFirstKey(access, bootstrap))).toBeUndefined();
    expect(access.keys.recognise(bootstrap)).toMatchObject({ id: 'abcdefghijkl', label: 'bootstrap', orgId: null });
    await test.settle(installFirstKey(access, bootstrap));
    expect(await test.audit()).toHaveLength(1);
  });

  test('that was given and revoked stays revoked', async () => {
    const { test, access } = await setUp([]);
    await test.settle(installFirstKey(access, bootstrap));
    await test.settle(revokeKey(access, operator, 'abcdefghijkl'));
    await test.settle(installFirstKey(access, bootstrap));
    expect(access.keys.recognise(bootstrap)).toBeUndefined();
  });

  test('of the wrong form is refused', async () => {
    const { access } = await setUp([]);
    await expect(installFirstKey(access, 'secret')).rejects.toThrow(/an API key is/);
  });

  test('that was lost is replaced beside the others, on record with the reason', async () => {
    const { test, access } = await setUp([]);
    await test.settle(installFirstKey(access, undefined));
    const { key, record } = await test.settle(replaceLostKey(access));
    expect(access.keys.recognise(key)).toEqual(record);
    expect(record).toMatchObject({ scopes: ['read', 'write', 'admin'], orgId: null, expiresAt: null });
    expect(access.keys.size).toBe(2);
    expect((await test.audit()).at(-1)).toMatchObject({
      event_type: 'ApiKeyCreated',
      actor: { kind: 'system' },
      reason: 'reeve keys bootstrap',
    });
  });

  test('that could not be made durable is not there', async () => {
    const { test, access } = await setUp([]);
    test.failure = new Error('the disk is full');
    await expect(test.settle(installFirstKey(access, undefined))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(access.keys.size).toBe(0);
  });
});

describe('keys', () => {
  test('are made, listed newest first, rotated and revoked, each on record', async () => {
    const { test, access } = await setUp();
    const one = await test.settle(createKey(access, operator, grant));
    test.clock.advance(1);
    const two = await test.settle(createKey(access, operator, { ...grant, ttlMs: 5000 }));
    expect(two.record.expiresAt).toBe(test.clock.now() + 5000);
    expect(listKeys(access, operator).map((key) => key.id)).toEqual([two.record.id, one.record.id, operatorKey.id]);
    const three = await test.settle(rotateKey(access, operator, one.record.id));
    expect(access.keys.recognise(one.key)).toBeUndefined();
    expect(access.keys.recognise(three.key)).toMatchObject({ label: 'ci', scopes: ['read', 'write'] });
    await test.settle(revokeKey(access, operator, two.record.id));
    expect((await test.audit()).map((entry) => [entry.event_type, entry.payload['key_id']])).toEqual([
      ['ApiKeyCreated', one.record.id],
      ['ApiKeyCreated', two.record.id],
      ['ApiKeyCreated', three.record.id],
      ['ApiKeyRevoked', one.record.id],
      ['ApiKeyRevoked', two.record.id],
    ]);
  });

  test('survive a restart as they are', async () => {
    const { test, access } = await setUp();
    const made = await test.settle(createKey(access, operator, grant));
    const gone = await test.settle(createKey(access, operator, grant));
    await test.settle(revokeKey(access, operator, gone.record.id));
    const keys = new KeyRing(test.clock, sha256, [operatorKey, ...(await test.store.load()).apiKeys]);
    expect(keys.recognise(made.key)).toEqual(made.record);
    expect(keys.recognise(gone.key)).toBeUndefined();
  });

  test('remember who made them and what they were made in place of, over a restart too', async () => {
    const { test, access } = await setUp();
    const login = { accountId: 'acc_1', sessionId: 'ses_1', role: 'admin' } as const;
    const person: Principal = { ...operator, credentialId: 'acc_1', login };
    const first = await test.settle(createKey(access, operator, grant));
    const second = await test.settle(createKey(access, person, grant));
    const third = await test.settle(rotateKey(access, person, first.record.id));
    const restarted = (await test.crash()).gov.keys;
    for (const keys of [access.keys, restarted]) {
      expect([first, second, third].map(({ record }) => keys.find(record.id))).toMatchObject([
        { madeBy: { kind: 'api_key', id: operator.credentialId }, rotatedFrom: null },
        { madeBy: { kind: 'account', id: 'acc_1' }, rotatedFrom: null },
        { madeBy: { kind: 'account', id: 'acc_1' }, rotatedFrom: first.record.id },
      ]);
    }
  });

  test('revoked twice stay as they were the first time', async () => {
    const { test, access } = await setUp();
    const { record } = await test.settle(createKey(access, operator, grant));
    const revoked = await test.settle(revokeKey(access, operator, record.id));
    test.clock.advance(1000);
    expect(await test.settle(revokeKey(access, operator, record.id))).toEqual(revoked);
    expect(await test.audit()).toHaveLength(2);
    await expect(rotateKey(access, operator, record.id)).rejects.toMatchObject({ code: 'key_revoked' });
  });

  test('are as they were where the store fails', async () => {
    const { test, access } = await setUp();
    const { key, record } = await test.settle(createKey(access, operator, grant));
    test.failure = new Error('the disk is full');
    await expect(test.settle(createKey(access, operator, grant))).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(test.settle(rotateKey(access, operator, record.id))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await expect(test.settle(revokeKey(access, operator, record.id))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(access.keys.all()).toEqual([operatorKey, record]);
    expect(access.keys.recognise(key)).toEqual(record);
  });
});

test('the newest signing key signs, also after a restart, if the clock was set back since the last one', async () => {
  const { test, access } = await setUp();
  const rotate = async () => {
    const made = rotateSigningKey(access, operator);
    await Promise.resolve();
    return await test.settle(made);
  };
  await rotate();
  test.clock.setWallClock(-60_000);
  const { kid } = await rotate();
  expect(access.signingKeys.current?.kid).toBe(kid);
  expect((await test.crash()).gov.callers.signingKeys.current?.kid).toBe(kid);
});

describe('a key that expires', () => {
  async function expiring() {
    const { test, access } = await setUp();
    const hour = { ...grant, scopes: ['admin'] as const, ttlMs: 3_600_000 };
    const { record } = await test.settle(createKey(access, operator, hour));
    const by: Principal = { ...operator, credentialId: record.id, expiresAt: record.expiresAt };
    return { test, access, record, by, end: record.expiresAt };
  }

  test('makes none that lives longer, and may make one that lives shorter', async () => {
    const { test, access, by, end } = await expiring();
    for (const ttlMs of [null, 7_200_000]) {
      const { record } = await test.settle(createKey(access, by, { ...grant, ttlMs }));
      expect(record.expiresAt).toBe(end);
    }
    const short = await test.settle(createKey(access, by, { ...grant, ttlMs: 1000 }));
    expect(short.record.expiresAt).toBe(test.clock.now() + 1000);
  });

  test('prolongs neither itself nor another by rotating; somebody else may', async () => {
    const { test, access, record, by, end } = await expiring();
    const forever = await test.settle(createKey(access, operator, grant));
    test.clock.advance(1_800_000);
    expect((await test.settle(rotateKey(access, by, forever.record.id))).record.expiresAt).toBe(end);
    const rotated = await test.settle(rotateKey(access, by, record.id));
    expect(rotated.record.expiresAt).toBe(end);
    test.clock.advance(1000);
    const again = await test.settle(rotateKey(access, operator, rotated.record.id));
    expect(again.record.expiresAt).toBe((end ?? 0) + 1000);
  });

  test('does not shorten what a person makes, whose token ends soon', async () => {
    const { test, access } = await expiring();
    const login = { accountId: 'acc_1', sessionId: 'ses_1', role: 'admin' } as const;
    const person: Principal = { ...operator, credentialId: 'acc_1', login, expiresAt: test.clock.now() + 1000 };
    expect((await test.settle(createKey(access, person, grant))).record.expiresAt).toBeNull();
  });
});

describe('a bound admin', () => {
  test('makes keys with its own binding, whether it says so or not', async () => {
    const { test, access } = await setUp();
    for (const orgId of [null, 'acme']) {
      expect((await test.settle(createKey(access, acme, { ...grant, orgId }))).record.orgId).toBe('acme');
    }
  });

  test.each<[string, Partial<KeyGrant>]>([
    ['another org', { orgId: 'umbrella' }],
    ['a team of its org', { teamId: 'search' }],
  ])('does not make keys of %s', async (_, members) => {
    const { access } = await setUp();
    await expect(createKey(access, acme, { ...grant, ...members })).rejects.toMatchObject({ code: 'tenant_bound' });
    expect(access.keys.all()).toEqual([operatorKey]);
  });

  test('neither sees nor touches the keys of others', async () => {
    const { test, access } = await setUp();
    const own = await test.settle(createKey(access, acme, grant));
    const others = [
      await test.settle(createKey(access, operator, grant)),
      await test.settle(createKey(access, operator, { ...grant, orgId: 'umbrella' })),
      await test.settle(createKey(access, operator, { ...grant, orgId: 'acme', teamId: 'search' })),
    ];
    expect(listKeys(access, acme).map((key) => key.id)).toEqual([own.record.id]);
    for (const { record } of others) {
      await expect(revokeKey(access, acme, record.id)).rejects.toMatchObject({ code: 'key_not_found' });
      await expect(rotateKey(access, acme, record.id)).rejects.toMatchObject({ code: 'key_not_found' });
    }
  });
});

test('without the scope "admin" nobody manages keys', async () => {
  const { test, access } = await setUp();
  const { record } = await test.settle(createKey(access, operator, grant));
  const writer: Principal = { ...operator, scopes: ['write'] };
  expect(() => listKeys(access, writer)).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
  await expect(createKey(access, writer, grant)).rejects.toMatchObject({ code: 'insufficient_scope' });
  await expect(rotateKey(access, writer, record.id)).rejects.toMatchObject({ code: 'insufficient_scope' });
  await expect(revokeKey(access, writer, record.id)).rejects.toMatchObject({ code: 'insufficient_scope' });
});

test('a team without its org is refused', async () => {
  const { access } = await setUp();
  await expect(createKey(access, operator, { ...grant, teamId: 'search' })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

describe('that a key has ended', () => {
  async function setUpListener() {
    const { test, access } = await setUp();
    const made = await test.settle(createKey(access, operator, grant));
    const told: { id: string; inForce: boolean }[] = [];
    access.ended.subscribe((id) => told.push({ id, inForce: access.keys.isInForce(id) }));
    return { test, access, id: made.record.id, told };
  }

  test.each([
    ['revoked', revokeKey],
    ['rotated', rotateKey],
  ])('is told once where it is %s, when that is durable', async (_, end) => {
    const { test, access, id, told } = await setUpListener();
    const ending = end(access, operator, id);
    expect(told).toEqual([]);
    await test.settle<unknown>(ending);
    expect(told).toEqual([{ id, inForce: false }]);
  });

  test('is not told where it could not be made durable, nor where it had ended before', async () => {
    const { test, access, id, told } = await setUpListener();
    test.failure = new Error('the disk is full');
    await expect(test.settle(revokeKey(access, operator, id))).rejects.toThrow('cannot be written');
    expect(told).toEqual([]);
    test.failure = undefined;
    await test.settle(revokeKey(access, operator, id));
    await test.settle(revokeKey(access, operator, id));
    expect(told).toHaveLength(1);
  });

  test('is not told to who does not listen any more', () => {
    const ended = new EndedCredentials();
    const told: string[] = [];
    const stop = ended.subscribe((id) => told.push(id));
    ended.ended('first');
    stop();
    ended.ended('second');
    expect(told).toEqual(['first']);
  });
});
