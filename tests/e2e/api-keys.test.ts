import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiKey, CreatedKey } from '../harness/credentials.ts';
import { beginBeforeItEnds, makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

const keysPath = '/api/v1/iam/api-keys';
const me = '/api/v1/auth/me';
type KeyPage = { items: ApiKey[]; next_cursor: string | null; total: number };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: { SVC_LOG_LEVEL: 'trace' } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function listed(bearer = bootstrapKey, query = '?per_page=1000', from = gateway): Promise<KeyPage> {
  const { status, body } = await from.api.get<KeyPage>(`${keysPath}${query}`, bearer);
  expect(status).toBe(200);
  return body;
}

async function recordOf(id: string, from = gateway): Promise<ApiKey | undefined> {
  return (await listed(bootstrapKey, '?per_page=1000', from)).items.find((key) => key.id === id);
}

/** The keys of a page, without the member that changes with every use. */
function unused(page: KeyPage): object[] {
  return page.items.map((key) => ({ ...key, last_used_at: 'whenever' }));
}

async function statusWith(bearer: string, from = gateway): Promise<number> {
  return (await from.api.get(me, bearer)).status;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62Of(value: number): string {
  let [rest, digits] = [BigInt(value), ''];
  for (; rest > 0n; rest /= 62n) digits = base62.charAt(Number(rest % 62n)) + digits;
  return digits.padStart(6, '0');
}

/** The last use of the key in the store. The gateway writes it now and then, not at every call. */
function storedUseOf(from: TestGateway, id: string): unknown {
  const db = new DatabaseSync(join(from.folder, 'reeve.db'), { readOnly: true });
  try {
    return db.prepare('SELECT last_used_at FROM api_keys WHERE id = ?').get(id)?.['last_used_at'];
  } finally {
    db.close();
  }
}

/** Every place that takes a credential: as it is, as a token made from it, over HTTP and over gRPC. */
async function expectWorking(works: boolean, credentials: readonly string[], from = gateway): Promise<void> {
  for (const bearer of credentials) {
    expect(await statusWith(bearer, from)).toBe(works ? 200 : 401);
    const registering = registerAs(from, bearer, { agentId: 'by-key' });
    if (works) await registering;
    else await expect(registering).rejects.toMatchObject({ code: 16 });
  }
  const exchange = await from.api.post('/api/v1/auth/token', credentials[0]);
  expect(exchange.status).toBe(works ? 200 : 401);
}

describe('making a key', () => {
  test('it has the form of a key, its id and a checksum that anyone can recompute', async () => {
    for (let i = 0; i < 5; i++) {
      const { id, key } = await makeKey(gateway);
      const [, keyId, checksum] = /^rvk_([a-z2-7]{12})_[0-9A-Za-z]{40}([0-9A-Za-z]{6})$/.exec(key) ?? [];
      expect(keyId).toBe(id);
      expect(checksum).toBe(base62Of(crc32(key.slice(0, -6))));
    }
  });

  test('the answer has the key and its record; the list has the record and nothing of the key', async () => {
    const { key, ...record } = await makeKey(gateway, { label: '  CI, nightly  ', scopes: ['admin', 'read', 'read'] });
    expect(record).toMatchObject({
      label: 'CI, nightly',
      scopes: ['read', 'admin'],
      org_id: null,
      team_id: null,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    });
    expect(await recordOf(record.id)).toEqual(record);
    const { text } = await gateway.api.get(`${keysPath}?per_page=1000`, bootstrapKey);
    expect(text).not.toContain(key.slice(17, 57));
    expect(text).not.toContain('hash');
  });

  test.each<[string, object, string]>([
    ['no label', { label: undefined }, '/label'],
    ['an empty label', { label: '' }, '/label'],
    ['a blank label', { label: '   ' }, '/label'],
    ['a label of 129 characters', { label: 'x'.repeat(129) }, '/label'],
    ['a label that is a number', { label: 7 }, '/label'],
    ['no scopes', { scopes: undefined }, '/scopes'],
    ['an empty list of scopes', { scopes: [] }, '/scopes'],
    ['scopes as a text', { scopes: 'read' }, '/scopes'],
    ['an unknown scope', { scopes: ['read', 'root'] }, '/scopes/1'],
    ['a scope in capitals', { scopes: ['READ'] }, '/scopes/0'],
    ['an empty org', { org_id: '' }, '/org_id'],
    ['an org with a slash', { org_id: 'a/b' }, '/org_id'],
    ['an org of 129 characters', { org_id: 'x'.repeat(129) }, '/org_id'],
    ['a team without its org', { team_id: 'core' }, '/team_id'],
    ['a malformed team', { org_id: 'acme', team_id: '..' }, '/team_id'],
    ['a life of no seconds', { ttl_secs: 0 }, '/ttl_secs'],
    ['a negative life', { ttl_secs: -5 }, '/ttl_secs'],
    ['half a second', { ttl_secs: 0.5 }, '/ttl_secs'],
    ['a life as a text', { ttl_secs: '60' }, '/ttl_secs'],
    ['a life beyond counting', { ttl_secs: 1e12 }, '/ttl_secs'],
    ['an id of its own', { id: 'aaaaaaaaaaaa' }, '/id'],
    ['a key of its own', { key: bootstrapKey }, '/key'],
  ])('%s is a 422 that points at it, and makes no key', async (_what, members, pointer) => {
    const before = (await listed()).total;
    const body = { label: 'x', scopes: ['read'], ...members };
    const answer = await gateway.api.post<Problem>(keysPath, bootstrapKey, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer }] });
    expect((await listed()).total).toBe(before);
  });

  test('null stands for no binding and no end', async () => {
    expect(await makeKey(gateway, { org_id: null, team_id: null, ttl_secs: null })).toMatchObject({
      org_id: null,
      team_id: null,
      expires_at: null,
    });
  });

  test('it is audited with who made it and by which request, in the tenant that it is bound to', async () => {
    const body = { label: 'audited', scopes: ['write'], org_id: 'acme', team_id: 'core' };
    const headers = { 'x-request-id': 'making-a-key' };
    const { body: made } = await gateway.api.send<CreatedKey>('POST', keysPath, {
      bearer: bootstrapKey,
      json: body,
      headers,
    });
    const entry = gateway.audit().at(-1);
    expect(entry).toMatchObject({
      event_type: 'ApiKeyCreated',
      actor: { kind: 'api_key', id: 'abcdefghijkl', label: 'bootstrap' },
      lineage: { org_id: 'acme', team_id: 'core' },
      payload: { key_id: made.id, label: 'audited', scopes: ['write'], request_id: 'making-a-key' },
    });
    expect(JSON.stringify(entry)).not.toContain(made.key.slice(17));
  });

  test('the tenant that it is bound to shows in what it is told about itself', async () => {
    const { key, id } = await makeKey(gateway, { org_id: 'acme', team_id: 'core', label: 'bound' });
    const expected = {
      kind: 'api_key',
      scopes: ['read'],
      org_id: 'acme',
      team_id: 'core',
      key: { id, label: 'bound', expires_at: null },
    };
    for (const bearer of [key, await tokenOf(gateway, key)]) {
      expect((await gateway.api.get(me, bearer)).body).toEqual(expected);
    }
  });

  test('a write-scope key cannot list, make, rotate or revoke keys, nor rotate the signing key', async () => {
    const { key, id } = await makeKey(gateway, { scopes: ['write'] });
    for (const bearer of [key, await tokenOf(gateway, key)]) {
      const answers = [
        await gateway.api.get<Problem>(keysPath, bearer),
        await gateway.api.post<Problem>(keysPath, bearer, { label: 'x', scopes: ['read'] }),
        await gateway.api.post<Problem>(`${keysPath}/${id}/rotate`, bearer),
        await gateway.api.post<Problem>(`${keysPath}/${id}/revoke`, bearer),
        await gateway.api.post<Problem>(`/iam/api-keys/${id}/revoke`, bearer),
        await gateway.api.post<Problem>('/api/v1/iam/signing-keys/rotate', bearer),
      ];
      for (const { status, body } of answers) {
        expect(status).toBe(403);
        expect(body).toMatchObject({ code: 'insufficient_scope', required_scope: 'admin' });
      }
    }
    expect(await statusWith(key)).toBe(200);
  });
});

describe('the list of keys', () => {
  test('is newest first, in pages, with the total of all', async () => {
    const made = [];
    for (let i = 0; i < 7; i++) made.unshift((await makeKey(gateway, { org_id: 'paged', label: `key ${i}` })).id);
    const seen: string[] = [];
    let query = '?org_id=paged&per_page=3';
    for (let page = 0; page < 3; page++) {
      const { items, next_cursor, total } = await listed(bootstrapKey, query);
      expect(total).toBe(7 + page);
      seen.push(...items.map((key) => key.id));
      expect(next_cursor === null).toBe(page === 2);
      query = `?org_id=paged&per_page=3&cursor=${next_cursor}`;
      // Created during paging: it shifts nothing.
      await makeKey(gateway, { org_id: 'paged' });
    }
    expect(seen).toEqual(made);
  });

  test('narrows by org, and has nothing of an org that nobody knows', async () => {
    await makeKey(gateway, { org_id: 'narrow' });
    await makeKey(gateway, { org_id: 'narrow', team_id: 'a-team' });
    const { items, total } = await listed(bootstrapKey, '?org_id=narrow');
    expect(total).toBe(2);
    expect(items.map((key) => key.team_id)).toEqual(['a-team', null]);
    expect(await listed(bootstrapKey, '?org_id=nobody')).toEqual({ items: [], next_cursor: null, total: 0 });
    expect((await listed(bootstrapKey, '?org_id=')).total).toBe(0);
  });
});

describe('revoking a key', () => {
  test.each([keysPath, '/iam/api-keys'])('%s/{id}/revoke stops it and its tokens at once, everywhere', async (path) => {
    const { id, key } = await makeKey(gateway, { scopes: ['write'] });
    const credentials = [key, await tokenOf(gateway, key), await tokenOf(gateway, key, 'write')];
    await expectWorking(true, credentials);
    const { status, body } = await gateway.api.post<ApiKey>(`${path}/${id}/revoke`, bootstrapKey);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, revoked_at: expect.stringMatching(/Z$/) });
    await expectWorking(false, credentials);
    expect(await recordOf(id)).toEqual(body);
  });

  test('again answers 200 with the same record, on either path, and records nothing', async () => {
    const { id } = await makeKey(gateway);
    const first = await gateway.api.post<ApiKey>(`${keysPath}/${id}/revoke`, bootstrapKey);
    expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'ApiKeyRevoked', payload: { key_id: id } });
    const entries = gateway.audit().length;
    for (const path of ['/iam/api-keys', keysPath]) {
      const again = await gateway.api.post<ApiKey>(`${path}/${id}/revoke`, bootstrapKey);
      expect(again).toMatchObject({ status: 200, body: first.body });
    }
    expect(gateway.audit()).toHaveLength(entries);
  });

  test.each(['aaaaaaaaaaaa', 'no-such-key', bootstrapKey])(
    'the unknown id %s is a 404 key_not_found on both paths, and for rotation',
    async (id) => {
      for (const path of [`${keysPath}/${id}/revoke`, `/iam/api-keys/${id}/revoke`, `${keysPath}/${id}/rotate`]) {
        const answer = await gateway.api.post<Problem>(path, bootstrapKey);
        expect(answer).toMatchObject({ status: 404, body: { code: 'key_not_found' } });
        expect(answer.body.detail).not.toContain(bootstrapKey);
      }
    },
  );

  test('is audited with who did it, in the tenant of the key', async () => {
    const { id } = await makeKey(gateway, { org_id: 'acme' });
    await gateway.api.send('POST', `/iam/api-keys/${id}/revoke`, {
      bearer: bootstrapKey,
      headers: { 'x-request-id': 'revoking' },
    });
    expect(gateway.audit().at(-1)).toMatchObject({
      event_type: 'ApiKeyRevoked',
      actor: { kind: 'api_key', id: 'abcdefghijkl' },
      lineage: { org_id: 'acme' },
      payload: { key_id: id, request_id: 'revoking' },
    });
  });

  test('a key can revoke itself, and is then a stranger', async () => {
    const { id, key } = await makeKey(gateway, { scopes: ['admin'] });
    expect((await gateway.api.post(`${keysPath}/${id}/revoke`, key)).status).toBe(200);
    expect((await gateway.api.post(`${keysPath}/${id}/revoke`, key)).status).toBe(401);
  });
});

describe('rotating a key', () => {
  test('that has expired makes one that lives as long again', async () => {
    const old = await makeKey(gateway, { label: 'expired', scopes: ['read'], ttl_secs: 1 });
    await eventually(() => expectWorking(false, [old.key]));
    const { body } = await gateway.api.post<CreatedKey>(`${keysPath}/${old.id}/rotate`, bootstrapKey);
    expect(Date.parse(body.expires_at ?? '') - Date.parse(body.created_at)).toBe(1000);
  });

  test('makes a new id with the same grant, and the old key and its tokens stop at once', async () => {
    const grant = { label: 'rotated', scopes: ['write' as const], org_id: 'acme', team_id: 'core', ttl_secs: 3600 };
    const old = await makeKey(gateway, grant);
    const stale = [old.key, await tokenOf(gateway, old.key)];
    await expectWorking(true, stale);
    const { status, body } = await gateway.api.post<CreatedKey>(`${keysPath}/${old.id}/rotate`, bootstrapKey);
    expect(status).toBe(201);
    expect(body.id).not.toBe(old.id);
    expect(body.key).toContain(`rvk_${body.id}_`);
    expect(body).toMatchObject({
      label: 'rotated',
      scopes: ['write'],
      org_id: 'acme',
      team_id: 'core',
      last_used_at: null,
      revoked_at: null,
    });
    expect(Date.parse(body.expires_at ?? '') - Date.parse(body.created_at)).toBe(3_600_000);
    await expectWorking(false, stale);
    await expectWorking(true, [body.key, await tokenOf(gateway, body.key)]);
    expect((await recordOf(old.id))?.revoked_at).not.toBeNull();
    const [created, revoked] = gateway
      .audit()
      .filter((entry) => ['ApiKeyCreated', 'ApiKeyRevoked'].includes(entry.event_type))
      .slice(-2);
    expect(created).toMatchObject({ event_type: 'ApiKeyCreated', payload: { key_id: body.id, rotated_from: old.id } });
    expect(revoked).toMatchObject({ event_type: 'ApiKeyRevoked', payload: { key_id: old.id, rotated_to: body.id } });
  });

  test('a revoked key is a 409 key_revoked, and no key is made', async () => {
    const { id } = await makeKey(gateway);
    await gateway.api.post(`${keysPath}/${id}/revoke`, bootstrapKey);
    const before = (await listed()).total;
    expect(await gateway.api.post(`${keysPath}/${id}/rotate`, bootstrapKey)).toMatchObject({
      status: 409,
      body: { code: 'key_revoked' },
    });
    expect((await listed()).total).toBe(before);
  });

  test('of two rotations at once, one wins and the other is a 409', async () => {
    const { id } = await makeKey(gateway);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => gateway.api.post(`${keysPath}/${id}/rotate`, bootstrapKey)),
    );
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409]);
  });
});

describe('time', () => {
  test('a key with a life ends by itself, with its tokens, and stays listed', async () => {
    const { id, key, expires_at, credentials } = await beginBeforeItEnds(async (ttlSecs) => {
      const made = await makeKey(gateway, { scopes: ['write'], ttl_secs: ttlSecs });
      const life = Date.parse(made.expires_at ?? '') - Date.parse(made.created_at);
      expect(life).toBeGreaterThan((ttlSecs - 1) * 1000);
      expect(life).toBeLessThanOrEqual(ttlSecs * 1000);
      const both = [made.key, await tokenOf(gateway, made.key)];
      await expectWorking(true, both);
      return { ...made, credentials: both };
    });
    await eventually(async () => expect(await statusWith(key)).toBe(401));
    await expectWorking(false, credentials);
    expect(await recordOf(id)).toMatchObject({ id, expires_at, revoked_at: null });
  });

  test('last use is noted for the key itself and for tokens made from it', async () => {
    const { id, key } = await makeKey(gateway);
    expect(await recordOf(id)).toMatchObject({ last_used_at: null });
    const token = await tokenOf(gateway, key);
    const exchanged = (await recordOf(id))?.last_used_at ?? '';
    expect(Date.parse(exchanged)).toBeGreaterThan(0);
    for (const bearer of [key, token]) {
      const before = (await recordOf(id))?.last_used_at ?? '';
      await eventually(async () => {
        await statusWith(bearer);
        expect(Date.parse((await recordOf(id))?.last_used_at ?? '')).toBeGreaterThan(Date.parse(before));
      });
    }
  });

  test('a call that fails with the key does not count as a use of it', async () => {
    const { id, key } = await makeKey(gateway);
    await gateway.api.post(`${keysPath}/${id}/revoke`, bootstrapKey);
    expect(await statusWith(key)).toBe(401);
    expect(await statusWith(`${key.slice(0, -1)}x`)).toBe(401);
    expect(await recordOf(id)).toMatchObject({ last_used_at: null });
  });
});

describe('a bound admin', () => {
  let acme: CreatedKey;
  let team: CreatedKey;
  let foreign: CreatedKey;
  beforeAll(async () => {
    acme = await makeKey(gateway, { scopes: ['admin'], org_id: 'bound-acme', label: 'org admin' });
    team = await makeKey(gateway, {
      scopes: ['admin'],
      org_id: 'bound-acme',
      team_id: 'core',
      label: 'team admin',
    });
    foreign = await makeKey(gateway, { scopes: ['admin'], org_id: 'bound-globex', label: 'foreign' });
  });

  test('makes keys that inherit its binding', async () => {
    for (const bearer of [acme.key, await tokenOf(gateway, acme.key)]) {
      expect(await makeKey(gateway, {}, bearer)).toMatchObject({ org_id: 'bound-acme', team_id: null });
      expect(await makeKey(gateway, { org_id: 'bound-acme' }, bearer)).toMatchObject({ org_id: 'bound-acme' });
    }
    const inherited = { org_id: 'bound-acme', team_id: 'core' };
    expect(await makeKey(gateway, {}, team.key)).toMatchObject(inherited);
    expect(await makeKey(gateway, inherited, team.key)).toMatchObject(inherited);
  });

  test.each<[string, () => string, object]>([
    ['an org admin asks for another org', () => acme.key, { org_id: 'bound-globex' }],
    ['an org admin asks for one team only', () => acme.key, { team_id: 'core' }],
    ['a team admin asks for another org', () => team.key, { org_id: 'bound-globex' }],
    ['a team admin asks for another team', () => team.key, { team_id: 'other' }],
    ['a team admin asks for another org and team', () => team.key, { org_id: 'bound-globex', team_id: 'other' }],
  ])('%s: 403 tenant_bound, and no key is made', async (_what, bearer, binding) => {
    const before = (await listed()).total;
    const answer = await gateway.api.post(keysPath, bearer(), { label: 'x', scopes: ['read'], ...binding });
    expect(answer).toMatchObject({ status: 403, body: { code: 'tenant_bound' } });
    expect((await listed()).total).toBe(before);
  });

  test('lists the keys with its own binding and counts no others, whatever it filters by', async () => {
    for (const { key, org_id, team_id } of [acme, team]) {
      const { items, total } = await listed(key);
      expect(items.length).toBeGreaterThan(0);
      expect(total).toBe(items.length);
      for (const item of items) expect(item).toMatchObject({ org_id, team_id });
      expect(await listed(key, '?org_id=bound-globex')).toEqual({ items: [], next_cursor: null, total: 0 });
      expect((await listed(key, '?org_id=bound-acme')).total).toBe(total);
    }
  });

  test('finds no others to rotate or revoke: they are a 404, as if they did not exist', async () => {
    const unknown = await gateway.api.post<Problem>(`${keysPath}/aaaaaaaaaaaa/revoke`, acme.key);
    const others = [foreign.id, team.id, 'abcdefghijkl'];
    for (const id of others) {
      for (const path of [`${keysPath}/${id}/revoke`, `/iam/api-keys/${id}/revoke`, `${keysPath}/${id}/rotate`]) {
        const answer = await gateway.api.post<Problem>(path, acme.key);
        expect(answer).toMatchObject({ status: 404, body: { code: 'key_not_found' } });
        expect(answer.body.detail.replace(id, 'ID')).toBe(unknown.body.detail.replace('aaaaaaaaaaaa', 'ID'));
      }
    }
    for (const { key } of [foreign, team]) expect(await statusWith(key)).toBe(200);
    expect(await statusWith(bootstrapKey)).toBe(200);
  });

  test('rotates and revokes its own', async () => {
    const { id } = await makeKey(gateway, {}, acme.key);
    const { status, body } = await gateway.api.post<CreatedKey>(`${keysPath}/${id}/rotate`, acme.key);
    expect(status).toBe(201);
    expect(body).toMatchObject({ org_id: 'bound-acme' });
    expect((await gateway.api.post(`/iam/api-keys/${body.id}/revoke`, acme.key)).status).toBe(200);
  });

  test('may not rotate the signing key, which is everybody’s', async () => {
    for (const { key } of [acme, team]) {
      const answer = await gateway.api.post('/api/v1/iam/signing-keys/rotate', key);
      expect(answer).toMatchObject({ status: 403, body: { code: 'tenant_bound' } });
    }
  });
});

test('no key is found in the log, in the audit log or anywhere in the data folder', async () => {
  const made = await makeKey(gateway, { scopes: ['admin'], label: 'secretive' });
  const rotated = await gateway.api.post<CreatedKey>(`${keysPath}/${made.id}/rotate`, made.key);
  const token = await tokenOf(gateway, rotated.body.key);
  await statusWith(token);
  await statusWith(made.key);
  const secrets = [bootstrapKey, made.key, rotated.body.key, token];
  const bodies = [...secrets.slice(0, 3).map((key) => key.slice(17, 57)), token];
  for (const entry of readdirSync(gateway.folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { name } = entry;
    const content = readFileSync(join(gateway.folder, name), 'latin1');
    for (const secret of bodies) expect(content.includes(secret), name).toBe(false);
  }
  const { stdout, stderr } = gateway.output();
  for (const secret of bodies) expect(stdout + stderr).not.toContain(secret);
});

describe('across restarts', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)('keys, bindings, revocations and last use survive %s', async (signal) => {
    const env = { SVC_OPS_SWEEP_TICK_SECS: '0.2' };
    await using first = await TestGateway.start({ env });
    const used = await makeKey(first, { scopes: ['write'], org_id: 'acme', team_id: 'core', ttl_secs: 3600 });
    expect(await statusWith(used.key, first)).toBe(200);
    const lastUsed = (await recordOf(used.id, first))?.last_used_at;
    await eventually(() => expect(storedUseOf(first, used.id)).toBe(Date.parse(lastUsed ?? '')));
    const revoked = await makeKey(first, { scopes: ['write'] });
    const revokedToken = await tokenOf(first, revoked.key);
    await first.api.post(`${keysPath}/${revoked.id}/revoke`, bootstrapKey);
    const last = await makeKey(first, { label: 'made last' });
    const before = await listed(bootstrapKey, '', first);

    await using second = await first.restart(signal, { env });
    const after = await listed(bootstrapKey, '', second);
    expect(unused(after)).toEqual(unused(before));
    expect(await recordOf(used.id, second)).toMatchObject({ last_used_at: lastUsed });
    await expectWorking(true, [used.key], second);
    expect(await statusWith(last.key, second)).toBe(200);
    await expectWorking(false, [revoked.key, revokedToken], second);
  });

  test('the bootstrap key is known again, and neither installed twice nor brought back once revoked', async () => {
    await using first = await TestGateway.start();
    const created = (from: TestGateway) => from.audit().filter((entry) => entry.event_type === 'ApiKeyCreated');
    expect(created(first)).toMatchObject([{ actor: { kind: 'system' }, payload: { key_id: 'abcdefghijkl' } }]);
    const spare = await makeKey(first, { scopes: ['admin'] });

    await using second = await first.restart('SIGTERM');
    expect(await statusWith(bootstrapKey, second)).toBe(200);
    expect(created(second)).toHaveLength(2);
    expect((await listed(bootstrapKey, '', second)).total).toBe(2);
    await second.api.post('/iam/api-keys/abcdefghijkl/revoke', spare.key);

    await using third = await second.restart('SIGKILL');
    expect(await statusWith(bootstrapKey, third)).toBe(401);
    expect(created(third)).toHaveLength(2);
    expect(third.output().stderr).not.toContain('rvk_');

    const another = `rvk_bbbbbbbbbbbb_${'b'.repeat(40)}`;
    const next = another + base62Of(crc32(another));
    await using fourth = await third.restart('SIGTERM', { env: { SVC_BOOTSTRAP_API_KEY: next } });
    expect((await fourth.api.get(me, next)).body).toMatchObject({
      scopes: ['read', 'write', 'admin'],
      org_id: null,
      key: { id: 'bbbbbbbbbbbb' },
    });
    expect(await statusWith(bootstrapKey, fourth)).toBe(401);
  });
});

test('on a full disk no key is made and none is revoked: 503, and everything is as it was', async () => {
  await using full = await TestGateway.start();
  const kept = await makeKey(full);
  const before = await listed(bootstrapKey, '', full);
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(full.child.pid), `--fsize=${bytes}:unlimited`]);
  limit(1);
  const refused = [
    await full.api.post(keysPath, bootstrapKey, { label: 'x', scopes: ['read'] }),
    await full.api.post(`${keysPath}/${kept.id}/revoke`, bootstrapKey),
    await full.api.post(`${keysPath}/${kept.id}/rotate`, bootstrapKey),
    await full.api.post('/api/v1/auth/token', kept.key),
    await full.api.post('/api/v1/iam/signing-keys/rotate', bootstrapKey),
  ];
  for (const answer of refused) expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
  expect(await statusWith(kept.key, full)).toBe(200);
  limit('unlimited');
  await eventually(async () => expect((await full.ready()).status).toBe(200));
  expect(unused(await listed(bootstrapKey, '', full))).toEqual(unused(before));
  expect((await full.api.get<{ keys: unknown[] }>('/.well-known/jwks.json')).body.keys).toHaveLength(1);
  expect((await full.api.post(`${keysPath}/${kept.id}/revoke`, bootstrapKey)).status).toBe(200);
});
