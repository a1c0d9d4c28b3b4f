import { expect, test } from 'vitest';
import { plainMint } from '../testkit/plain-mint.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import { portsOf } from '../testkit/ports-of.ts';
import type { Access } from './access.ts';
import { newKeyRecord } from './api-key.ts';
import { EndedCredentials } from './access.ts';
import { followAccess } from './manage-keys.ts';
import { credentialRings } from '../testkit/credential-rings.ts';

const key = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

async function setUp() {
  const { gov, clock } = await testGovernance();
  const ended: string[] = [];
  const access: Access = {
    ...portsOf(gov),
    ...credentialRings(gov, []),
    mint: plainMint(),
    tokenTtlMs: 1000,
    ended: new EndedCredentials(),
  };
  access.ended.subscribe((id) => ended.push(id));
  const made = { madeBy: null, rotatedFrom: null };
  const grant = { label: 'ci', scopes: ['read'] as const, orgId: null, teamId: null, expiresAt: null, ...made };
  return { access, ended, record: newKeyRecord(key, sha256, clock.now(), grant) };
}

test('a key that was made at another gateway works here', async () => {
  const { access, record } = await setUp();
  followAccess(access, { kind: 'api_key_saved', key: record });
  expect(access.keys.recognise(key)).toEqual(record);
});

test('a key that was revoked at another gateway stops here, and what it keeps open is told, once', async () => {
  const { access, ended, record } = await setUp();
  followAccess(access, { kind: 'api_key_saved', key: record });
  followAccess(access, { kind: 'api_key_saved', key: { ...record, lastUsedAt: 7 } });
  expect(ended).toEqual([]);
  followAccess(access, { kind: 'api_key_saved', key: { ...record, revokedAt: 9 } });
  followAccess(access, { kind: 'api_key_saved', key: { ...record, revokedAt: 9 } });
  expect(access.keys.recognise(key)).toBeUndefined();
  expect(ended).toEqual([record.id]);
});

test('the use of a key at another gateway shows here, and never goes back', async () => {
  const { access, record } = await setUp();
  followAccess(access, { kind: 'api_key_saved', key: record });
  followAccess(access, { kind: 'api_key_used', id: record.id, at: 7 });
  followAccess(access, { kind: 'api_key_used', id: record.id, at: 5 });
  followAccess(access, { kind: 'api_key_used', id: 'unknown', at: 5 });
  expect(access.keys.find(record.id)?.lastUsedAt).toBe(7);
});

test('signing keys come, change in place and go', async () => {
  const { access } = await setUp();
  const first = { kid: 'k1', privateJwk: 'p', publicJwk: 'q', createdAt: 1 };
  const second = { ...first, kid: 'k2', createdAt: 2 };
  followAccess(access, { kind: 'signing_key_saved', key: first });
  followAccess(access, { kind: 'signing_key_saved', key: second });
  followAccess(access, { kind: 'signing_key_saved', key: { ...first, privateJwk: '' } });
  expect(access.signingKeys.current).toEqual(second);
  expect(access.signingKeys.all().find(({ kid }) => kid === 'k1')?.privateJwk).toBe('');
  followAccess(access, { kind: 'signing_key_removed', kid: 'k1' });
  expect(access.signingKeys.all()).toEqual([second]);
});
