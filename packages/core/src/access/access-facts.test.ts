import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { elsewhere, here } from '../testkit/applying.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { plainMint } from '../testkit/plain-mint.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import { portsOf } from '../testkit/ports-of.ts';
import type { Governance } from '../governance.ts';
import type { Access, AccessChange } from './access.ts';
import { newKeyRecord } from './api-key.ts';
import { factsWith } from '../journal/meaning.ts';
import { accessFacts } from './access-facts.ts';
import { credentialRings } from '../testkit/credential-rings.ts';

const key = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

/** Another gateway has done it. */
function follow(gov: Governance, change: AccessChange): void {
  factsWith(accessFacts, () => gov).apply(change, elsewhere);
}

async function setUp() {
  const { gov, clock } = await testGovernance();
  const ended: string[] = [];
  const access: Access = {
    ...portsOf(gov),
    ...credentialRings(gov, []),
    mint: plainMint(),
    tokenTtlMs: 1000,
  };
  access.ended.subscribe((id) => ended.push(id));
  const made = { madeBy: null, rotatedFrom: null };
  const grant = { label: 'ci', scopes: ['read'] as const, orgId: null, teamId: null, expiresAt: null, ...made };
  return { gov, access, ended, record: newKeyRecord(key, sha256, clock.now(), grant) };
}

test('a key that was made at another gateway works here', async () => {
  const { gov, access, record } = await setUp();
  follow(gov, { kind: 'api_key_saved', key: record });
  expect(access.keys.recognise(key)).toEqual(record);
});

test('a key that was revoked at another gateway stops here, and what it keeps open is told, once', async () => {
  const { gov, access, ended, record } = await setUp();
  follow(gov, { kind: 'api_key_saved', key: record });
  follow(gov, { kind: 'api_key_saved', key: { ...record, lastUsedAt: 7 } });
  expect(ended).toEqual([]);
  follow(gov, { kind: 'api_key_saved', key: { ...record, revokedAt: 9 } });
  follow(gov, { kind: 'api_key_saved', key: { ...record, revokedAt: 9 } });
  expect(access.keys.recognise(key)).toBeUndefined();
  expect(ended).toEqual([record.id]);
});

test('the use of a key at another gateway shows here, and never goes back', async () => {
  const { gov, access, record } = await setUp();
  follow(gov, { kind: 'api_key_saved', key: record });
  follow(gov, { kind: 'api_key_used', id: record.id, at: 7 });
  follow(gov, { kind: 'api_key_used', id: record.id, at: 5 });
  follow(gov, { kind: 'api_key_used', id: 'unknown', at: 5 });
  expect(access.keys.find(record.id)?.lastUsedAt).toBe(7);
});

test('signing keys come, change in place and go', async () => {
  const { gov, access } = await setUp();
  const first = { kid: 'k1', privateJwk: 'p', publicJwk: 'q', createdAt: 1 };
  const second = { ...first, kid: 'k2', createdAt: 2 };
  follow(gov, { kind: 'signing_key_saved', key: first });
  follow(gov, { kind: 'signing_key_saved', key: second });
  follow(gov, { kind: 'signing_key_saved', key: { ...first, privateJwk: '' } });
  expect(access.signingKeys.current).toEqual(second);
  expect(access.signingKeys.all().find(({ kid }) => kid === 'k1')?.privateJwk).toBe('');
  follow(gov, { kind: 'signing_key_removed', kid: 'k1' });
  expect(access.signingKeys.all()).toEqual([second]);
});

test('a signing key that another gateway has retired is not brought back by a rotation here that is taken back', async () => {
  const { gov, access } = await setUp();
  const old = { kid: 'k1', privateJwk: 'p', publicJwk: 'q', createdAt: 1 };
  follow(gov, { kind: 'signing_key_saved', key: old });
  const retired = (): AccessChange => ({ kind: 'signing_key_saved', key: { ...old, privateJwk: '' } });
  const undo = factsWith(accessFacts, () => gov).apply(retired(), here);
  follow(gov, retired());
  undo();
  expect(access.signingKeys.findForTokens('k1')).toBeUndefined();
});

test('whatever is done to keys and taken back leaves them as they were', async () => {
  const { gov, access, record } = await setUp();
  const { keys, signingKeys } = access;
  const id = fc.constantFrom('a', 'b', 'c');
  const time = fc.integer({ min: 1, max: 9 });
  const someKey = fc.record({ id, orgId: fc.constantFrom(null, 'acme'), revokedAt: fc.option(time), createdAt: time });
  const someFact = fc.oneof(
    someKey.map((members): AccessChange => ({ kind: 'api_key_saved', key: { ...record, ...members } })),
    fc.record({ kind: fc.constant('api_key_used'), id, at: time }),
    fc
      .record({ kid: id, privateJwk: fc.constantFrom('', 'p'), publicJwk: fc.constant('q'), createdAt: time })
      .map((saved): AccessChange => ({ kind: 'signing_key_saved', key: saved })),
    fc.record({ kind: fc.constant('signing_key_removed'), kid: id }),
  );
  const shown = () => ({
    keys: keys.all().map((each) => ({ ...each, isInForce: keys.isInForce(each.id) })),
    unwritten: keys.unwritten().sort((one, other) => (one.id < other.id ? -1 : 1)),
    signing: signingKeys.all().toSorted((one, other) => (one.kid < other.kid ? -1 : 1)),
  });
  fc.assert(
    fc.property(fc.array(someFact), fc.array(id), (facts, used) => {
      for (const each of used) keys.noteUse(each);
      expectInverses(gov, facts, shown);
    }),
  );
});
