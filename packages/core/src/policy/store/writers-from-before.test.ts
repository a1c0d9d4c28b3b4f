import { describe, expect, test } from 'vitest';
import type { Width } from '../../access/authority.ts';
import type { ApiKeyRecord } from '../../access/api-key.ts';
import { KeyRing } from '../../access/key-ring.ts';
import { budgetRules } from '../policy-set.ts';
import { testGovernance } from '../../testkit/test-governance.ts';
import { putInForce } from '../load-policies.ts';
import { PolicyRegistry } from './policy-registry.ts';
import type { PolicyVersion, StoredVersion } from './policy-version.ts';
import { withWriter, withWriters } from './writers-from-before.ts';

const bindings: Readonly<Record<string, Pick<ApiKeyRecord, 'orgId' | 'teamId'>>> = {
  operator: { orgId: null, teamId: null },
  org: { orgId: 'acme', teamId: null },
  team: { orgId: 'acme', teamId: 'web' },
};
const ended = { createdAt: 1, expiresAt: 2, lastUsedAt: null, revokedAt: 3, madeBy: null, rotatedFrom: null };
const keys = new KeyRing(
  { now: () => 9, elapsed: () => 9 },
  (text) => text,
  Object.entries(bindings).map(([id, binding]) => ({ id, hash: '', label: '', scopes: [], ...ended, ...binding })),
);

function saved(version: number, by: string, width: Width | null = null): StoredVersion {
  const savedBy = by.includes('@')
    ? { id: by, kind: 'account' as const, label: by }
    : { id: by, kind: 'api_key' as const, label: by };
  return { name: 'x', version, source: 'scope: org:acme', scope: 'org:acme', savedAt: 1, savedBy, note: '', width };
}

/** A store with these versions of one document, newest first. */
function world(versions: readonly StoredVersion[]) {
  const store = {
    find: () => Promise.resolve(undefined),
    outline: () => Promise.resolve(versions),
    versions: (_: string, wanted: readonly number[]) =>
      Promise.resolve(versions.filter(({ version }) => wanted.includes(version))),
    alone: () => Promise.reject(new Error('nothing is stored here')),
  };
  return { keys, policyRegistry: new PolicyRegistry(store, {}) };
}

const found = async (...versions: readonly StoredVersion[]) => {
  const [newest] = await withWriters(world(versions), versions.slice(0, 1));
  return { width: newest?.width, author: newest?.author };
};

describe('a version that was stored before widths were', () => {
  test.each([
    ['team', 'team'],
    ['org', 'org'],
    ['operator', 'unbound'],
    ['a key that is not known', 'unbound'],
    ['somebody@example.com', 'unbound'],
  ])('by %s is as wide as its key', async (by, width) => {
    expect(await found(saved(1, by))).toEqual({ width, author: undefined });
  });

  test('is as wide as the widest that wrote it, and read as its last writer’s', async () => {
    expect(await found(saved(3, 'team'), saved(2, 'org'), saved(1, 'team'))).toEqual({ width: 'org', author: 'team' });
    expect(await found(saved(2, 'org'), saved(1, 'operator'))).toEqual({ width: 'unbound', author: 'org' });
    const many = Array.from({ length: 30 }, (_, index) => saved(30 - index, index === 29 ? 'operator' : 'org'));
    expect(await found(...many)).toEqual({ width: 'unbound', author: 'org' });
  });

  test('of which some are not kept any more counts as the operator’s to change', async () => {
    expect(await found(saved(3, 'org'), saved(2, 'org'))).toEqual({ width: 'unbound', author: 'org' });
  });

  test('that another gateway stores now is as wide as what is known of the document', () => {
    const here = world([]);
    expect(withWriter(here, saved(1, 'org'))).toMatchObject({ width: 'org' });
    here.policyRegistry.restore([{ ...saved(1, 'operator'), width: 'unbound' }]);
    expect(withWriter(here, saved(2, 'org'))).toMatchObject({ width: 'unbound', author: 'org' });
  });

  test('is left alone where its width is known', async () => {
    expect(await found(saved(2, 'org', 'unbound'), saved(1, 'org'))).toEqual({ width: 'unbound', author: undefined });
  });
});

describe('the version of the policies in force', () => {
  async function inForce(members: Partial<PolicyVersion>) {
    const { gov, turn } = await testGovernance();
    const source = 'scope: org:acme\nbudget: {daily_limit_usd: 9}';
    putInForce(gov, {
      files: [],
      stored: gov.policyRegistry.with([{ ...saved(1, 'org'), source, width: 'unbound', ...members }]),
    });
    turn();
    const { own, lowered } = budgetRules(gov.policies.documents);
    return { version: gov.policies.version, raises: own.length > 0, lowers: lowered.length > 0 };
  }

  test('is another where the same text of the same name is read as another author’s', async () => {
    const operators = await inForce({});
    const tenants = await inForce({ width: 'org' });
    expect([operators.raises, operators.lowers]).toEqual([true, false]);
    expect([tenants.raises, tenants.lowers]).toEqual([false, true]);
    expect(tenants.version).not.toBe(operators.version);
    expect(await inForce({ width: 'unbound', author: 'org' })).toEqual(tenants);
  });

  test('is the same whoever wrote in a tenant’s namespace last, as it is read in one way', async () => {
    const edited = await inForce({ name: 'acme/x' });
    expect([edited.raises, edited.lowers]).toEqual([false, true]);
    expect(await inForce({ name: 'acme/x', width: 'org' })).toEqual(edited);
  });
});
