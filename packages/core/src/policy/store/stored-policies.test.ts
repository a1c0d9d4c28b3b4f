import { describe, expect, test } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import { ReeveError } from '../../kernel/errors.ts';
import type { Governance } from '../../governance.ts';
import { elsewhere as atAnother } from '../../testkit/applying.ts';
import { agentId, operator } from '../../testkit/requests.ts';
import type { TestGovernance } from '../../testkit/test-governance.ts';
import { testGovernance } from '../../testkit/test-governance.ts';
import { loadPolicies } from '../load-policies.ts';
import { policyFacts } from '../policy-facts.ts';
import { deletePolicy, putPolicy, rollbackPolicy, validatePolicy } from './change-policy.ts';
import { findPolicy, listPolicies, policyVersions } from './find-policies.ts';
import type { PolicyVersion } from './policy-version.ts';

const acme: Principal = { ...operator, orgId: 'acme' };
const search: Principal = { ...acme, teamId: 'search' };
const reader: Principal = { ...operator, scopes: ['read'] };

/** Ends turns until the work has settled. */
async function finish<Result>({ turn }: TestGovernance, work: Promise<Result>): Promise<Result> {
  const state = { isOver: false };
  const over = () => (state.isOver = true);
  work.then(over, over);
  for (let turns = 0; turns < 100 && !state.isOver; turns++) {
    turn();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await work;
}

const put = (test: TestGovernance, name: string, source: string, by = operator, baseVersion?: number) =>
  finish(test, putPolicy(test.gov, by, { name, source, note: '', baseVersion }));

/** The error that the work is refused with. */
async function refusal(work: Promise<unknown>): Promise<Pick<ReeveError, 'code' | 'message' | 'facts'>> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ReeveError)) throw new Error(`not refused: ${String(error)}`);
  const { code, message, facts } = error;
  return { code, message, facts };
}

const inForce = ({ gov }: TestGovernance) => gov.policies.documents.map(({ name }) => name);

describe('putting a document', () => {
  test('stores its first version and puts it in force at once, with the files', async () => {
    const test = await testGovernance();
    await test.policies('name: file\ndefault: deny\n');
    const agent = await test.register(agentId('acme/search/bot'));
    const before = test.gov.policies.version;
    const { saved, file, document } = await put(test, 'mine', 'rules:\n  - {name: all, effect: allow}\n');
    expect({ file, name: document.name }).toEqual({ file: null, name: 'mine' });
    expect(saved).toMatchObject({ name: 'mine', version: 1, scope: 'global', savedBy: operator.actor });
    expect(inForce(test)).toEqual(['file', 'mine']);
    expect(await test.check(agent)).toMatchObject({ decision: 'allow', policyRule: 'mine/all' });
    const entry = (await test.audit()).find(({ payload }) => payload['name'] === 'mine');
    expect(entry).toMatchObject({
      event_type: 'PolicyReloaded',
      actor: operator.actor,
      policy_version: test.gov.policies.version,
      lineage: { org_id: null },
      payload: { change: 'put', name: 'mine', previous_version: before, scope: 'global', version: 1 },
    });
    expect(test.gov.policies.version).not.toBe(before);
  });

  test('again makes the next version, whose text alone is in force', async () => {
    const test = await testGovernance();
    await put(test, 'mine', 'default: allow');
    const { saved, text } = await put(test, 'mine', 'default: deny');
    expect({ version: saved?.version, text }).toEqual({ version: 2, text: 'default: deny' });
    expect(test.gov.policies.documents).toMatchObject([{ name: 'mine', default: 'deny' }]);
  });

  test.each([
    ['an unknown key', 'default: allow\nrulez: []', [[2, 1, /unknown key "rulez"/]]],
    ['no YAML', 'default: [', [[1, 11, /./]]],
    ['nothing', '# only a comment', [[1, 1, /no policy document/]]],
    [
      'two documents',
      'default: allow\n---\nname: b',
      [
        [3, 1, /one document/],
        [3, 7, /"name" must be "mine"/],
      ],
    ],
    ['another name', 'default: deny\nname: other', [[2, 7, /"name" must be "mine", under which/]]],
    ['an observed budget', 'mode: observe\nbudget: {daily_limit_usd: 1}', [[2, 1, /only observed/]]],
    [
      'two mistakes',
      'mode: watch\nscope: galaxy',
      [
        [1, 7, /"enforce" or "observe"/],
        [2, 8, /"scope" must be/],
      ],
    ],
  ])('with %s is refused with places, and changes nothing', async (_, source, places) => {
    const test = await testGovernance();
    await put(test, 'mine', 'default: allow');
    const { policies } = test.gov;
    const { code, facts } = await refusal(put(test, 'mine', source));
    expect(code).toBe('policy_invalid');
    expect(facts['errors']).toEqual(
      places.map(([line, column, message]) => ({
        file: 'mine',
        line,
        column,
        message: expect.stringMatching(message as RegExp) as string,
      })),
    );
    expect(test.gov.policies).toBe(policies);
    expect(findPolicy(test.gov, operator, 'mine').saved?.version).toBe(1);
  });

  test('with a second global budget is told in the new text, whatever its name', async () => {
    const test = await testGovernance();
    await test.policies('name: file\npricing: {"*": {input_per_mtok_usd: 1, output_per_mtok_usd: 1}}');
    await put(test, 'money', 'budget: {daily_limit_usd: 1}');
    const { facts } = await refusal(put(test, 'a', 'default: deny\nbudget: {daily_limit_usd: 2}\npricing: {}'));
    expect(facts['errors']).toEqual([
      { file: 'a', line: 2, column: 1, message: 'another global document has a "budget"' },
      { file: 'a', line: 3, column: 1, message: 'another global document has a "pricing"' },
    ]);
  });

  test('under the name of a document that stands in a file is refused', async () => {
    const test = await testGovernance();
    await test.policies('name: file\ndefault: deny');
    const { code, message } = await refusal(put(test, 'file', 'default: allow'));
    expect(code).toBe('policy_in_file');
    expect(message).toContain('stands in a file');
  });

  test('based on an older version changes nothing and says which is the newest', async () => {
    const test = await testGovernance();
    expect(await refusal(put(test, 'mine', 'default: deny', operator, 1))).toMatchObject({ code: 'policy_changed' });
    await put(test, 'mine', 'default: deny', operator, 0);
    await put(test, 'mine', 'default: deny', operator, 1);
    for (const base of [0, 1, 3]) {
      const { code, facts } = await refusal(put(test, 'mine', 'default: allow', operator, base));
      expect({ code, facts }).toEqual({ code: 'policy_changed', facts: { version: 2 } });
    }
    await finish(test, deletePolicy(test.gov, operator, 'mine'));
    expect((await put(test, 'mine', 'default: deny', operator, 0)).saved?.version).toBe(4);
  });

  test('of two on the same base at once, one is stored', async () => {
    const test = await testGovernance();
    const both = [put(test, 'mine', 'default: deny', operator, 0), put(test, 'mine', 'default: allow', operator, 0)];
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(findPolicy(test.gov, operator, 'mine').saved?.version).toBe(1);
  });

  test('that cannot be made durable leaves all as it was', async () => {
    const test = await testGovernance();
    await put(test, 'mine', 'default: allow');
    const { policies } = test.gov;
    const { sources } = test.gov.policyRegistry;
    test.failure = new Error('the disk is full');
    expect(await refusal(put(test, 'mine', 'default: deny'))).toMatchObject({ code: 'store_unavailable' });
    test.failure = undefined;
    expect(test.gov.policies).toBe(policies);
    expect(test.gov.policyRegistry.sources).toBe(sources);
    expect((await put(test, 'mine', 'default: deny')).saved?.version).toBe(2);
  });

  test('needs admin scope and a name that can stand in one', async () => {
    const test = await testGovernance();
    expect(await refusal(put(test, 'mine', 'default: deny', reader))).toMatchObject({ code: 'insufficient_scope' });
    expect(await refusal(put(test, '../etc', 'default: deny'))).toMatchObject({ code: 'invalid_argument' });
  });

  test('is there after a crash, as far as it was answered', async () => {
    const test = await testGovernance();
    await put(test, 'mine', 'default: allow');
    void putPolicy(test.gov, operator, { name: 'mine', source: 'default: deny', note: '' }).catch(() => undefined);
    const next = await test.crash();
    await finish(next, loadPolicies(next.gov, []));
    expect(next.gov.policies.documents).toMatchObject([{ name: 'mine', default: 'allow' }]);
  });

  test('hides secrets of the note', async () => {
    const test = await testGovernance();
    const note = 'password=hunter2hunter2';
    await finish(test, putPolicy(test.gov, operator, { name: 'mine', source: 'default: deny', note }));
    expect(JSON.stringify([await test.audit(), findPolicy(test.gov, operator, 'mine').saved])).not.toContain('hunter2');
  });
});

describe('a bound admin', () => {
  test.each([
    ['global', acme],
    ['org:umbrella', acme],
    ['agent://bot', acme],
    ['org:acme', search],
    ['team:acme/ads', search],
  ])('cannot put a document of the scope %s', async (scope, by) => {
    const test = await testGovernance();
    expect(await refusal(put(test, 'mine', `scope: ${scope}`, by))).toMatchObject({ code: 'tenant_bound' });
    expect(inForce(test)).toEqual([]);
  });

  test.each([
    ['org:acme', acme],
    ['team:acme/ads', acme],
    ['agent:acme//bot', acme],
    ['team:acme/search', search],
    ['agent:acme/search/bot', search],
  ])('can put, change and take away a document of the scope %s', async (scope, by) => {
    const test = await testGovernance();
    await put(test, 'mine', `scope: ${scope}`, by);
    await put(test, 'mine', `scope: ${scope}\nrules: []`, by);
    await finish(test, rollbackPolicy(test.gov, by, { name: 'mine', version: 1, note: '' }));
    expect(await test.audit()).toContainEqual(
      expect.objectContaining({ event_type: 'PolicyReloaded', lineage: expect.objectContaining({ org_id: 'acme' }) }),
    );
    await finish(test, deletePolicy(test.gov, by, 'mine'));
    expect(inForce(test)).toEqual([]);
  });

  test('makes documents in its own namespace, so names that others have are no matter', async () => {
    const test = await testGovernance();
    await test.policies('name: file\ndefault: deny');
    await put(test, 'stored', 'scope: org:umbrella');
    await put(test, 'gone', 'scope: org:umbrella');
    await finish(test, deletePolicy(test.gov, operator, 'gone'));
    const { gov } = test;
    for (const name of ['file', 'stored', 'gone']) {
      const others: (() => unknown)[] = [
        () => findPolicy(gov, acme, name),
        () => deletePolicy(gov, acme, name),
        () => policyVersions(gov, acme, name, { limit: 10 }),
        () => rollbackPolicy(gov, acme, { name, version: 1, note: '' }),
      ];
      for (const other of others) {
        expect(await refusal(finish(test, Promise.resolve().then(other)))).toMatchObject({ code: 'policy_not_found' });
      }
      expect((await put(test, name, 'scope: org:acme', acme)).document.name).toBe(`acme/${name}`);
    }
    expect(listPolicies(gov, acme).map(({ document }) => document.name)).toEqual([
      'acme/file',
      'acme/gone',
      'acme/stored',
    ]);
  });

  test('sees the documents of its own tenant and no version that was another tenant’s', async () => {
    const test = await testGovernance();
    await put(test, 'moved', 'scope: org:umbrella\n# secret of umbrella');
    await put(test, 'moved', 'scope: team:acme/search');
    await put(test, 'global', 'default: deny');
    const names = (by: Principal) => listPolicies(test.gov, by).map(({ document }) => document.name);
    expect([names(acme), names(search), names({ ...search, teamId: 'ads' })]).toEqual([['moved'], ['moved'], []]);
    const page = await policyVersions(test.gov, acme, 'moved', { limit: 10 });
    expect(page).toMatchObject({ total: 1, current: 2, next: null });
    expect(page.versions.map(({ version }) => version)).toEqual([2]);
    const back = rollbackPolicy(test.gov, acme, { name: 'moved', version: 1, note: '' });
    expect(await refusal(finish(test, back))).toMatchObject({ code: 'policy_version_not_found' });
  });
});

describe('versions of a document', () => {
  test('are paged, newest first, with who, when and why', async () => {
    const test = await testGovernance();
    for (let each = 1; each <= 20; each++) await put(test, 'mine', `# ${each}\ndefault: deny`);
    const first = await policyVersions(test.gov, operator, 'mine', { limit: 12 });
    expect(first.versions.map(({ version }) => version)).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9]);
    expect(first).toMatchObject({ total: 20, next: 9, current: 20 });
    const rest = await policyVersions(test.gov, operator, 'mine', { limit: 12, before: 9 });
    expect(rest.versions.map(({ source }) => source?.split('\n')[0])).toEqual([
      ...[8, 7, 6, 5, 4, 3, 2, 1].map((each) => `# ${each}`),
    ]);
    expect(rest.next).toBeNull();
  });

  test('are given in shorter pages where texts are long', async () => {
    const test = await testGovernance();
    const long = `default: deny\n#${'x'.repeat(500_000)}`;
    for (let each = 0; each < 18; each++) await put(test, 'mine', long);
    const { versions, next, total } = await policyVersions(test.gov, operator, 'mine', { limit: 1000 });
    expect(versions.length).toBeLessThan(18);
    expect({ next, total }).toEqual({ next: versions.at(-1)?.version, total: 18 });
  });

  test('can be gone back to: what it says is in force as a new one', async () => {
    const test = await testGovernance();
    await put(test, 'mine', 'default: allow');
    await put(test, 'mine', 'default: deny');
    const { saved, text } = await finish(
      test,
      rollbackPolicy(test.gov, operator, { name: 'mine', version: 1, note: '' }),
    );
    expect({ text, version: saved?.version, note: saved?.note }).toEqual({
      text: 'default: allow',
      version: 3,
      note: 'back to version 1',
    });
    expect(test.events).toContainEqual(
      expect.objectContaining({ type: 'policy', document: expect.objectContaining({ change: 'rolled_back' }) }),
    );
  });

  test('stay when the document is taken away, and can be gone back to', async () => {
    const test = await testGovernance();
    await put(test, 'mine', 'default: allow');
    await finish(test, deletePolicy(test.gov, operator, 'mine'));
    expect(inForce(test)).toEqual([]);
    expect(test.gov.policies.version).toBe('none');
    expect(await policyVersions(test.gov, operator, 'mine', { limit: 10 })).toMatchObject({
      versions: [
        { version: 2, source: null },
        { version: 1, source: 'default: allow' },
      ],
      current: null,
    });
    const again = deletePolicy(test.gov, operator, 'mine');
    expect(await refusal(finish(test, again))).toMatchObject({ code: 'policy_not_found' });
    const toDeletion = rollbackPolicy(test.gov, operator, { name: 'mine', version: 2, note: '' });
    expect(await refusal(finish(test, toDeletion))).toMatchObject({ code: 'policy_version_not_found' });
    await finish(test, rollbackPolicy(test.gov, operator, { name: 'mine', version: 1, note: 'sorry' }));
    expect(findPolicy(test.gov, operator, 'mine').saved).toMatchObject({ version: 3, note: 'sorry' });
  });

  test('that clash with what is in force now are not gone back to', async () => {
    const test = await testGovernance();
    await put(test, 'mine', 'budget: {daily_limit_usd: 1}');
    await put(test, 'mine', 'default: deny');
    await put(test, 'other', 'budget: {daily_limit_usd: 2}');
    const back = rollbackPolicy(test.gov, operator, { name: 'mine', version: 1, note: '' });
    expect(await refusal(finish(test, back))).toMatchObject({ code: 'policy_invalid' });
    expect(findPolicy(test.gov, operator, 'mine').saved?.version).toBe(2);
  });
});

describe('documents of a file', () => {
  test('are shown with their own text, though the file has several', async () => {
    const test = await testGovernance();
    await test.policies('# about a\nname: a\n---\n# about b\nname: b\nscope: org:acme # here\n...\n---\nname: c\n');
    expect(listPolicies(test.gov, operator).map(({ text, file }) => ({ text, file }))).toEqual([
      { text: 'name: a\n', file: 'policy-1.yaml' },
      { text: '# about b\nname: b\nscope: org:acme # here\n', file: 'policy-1.yaml' },
      { text: 'name: c\n', file: 'policy-1.yaml' },
    ]);
    expect(await refusal(finish(test, deletePolicy(test.gov, operator, 'a')))).toMatchObject({
      code: 'policy_in_file',
    });
    expect(await refusal(policyVersions(test.gov, operator, 'a', { limit: 1 }))).toMatchObject({
      code: 'policy_not_found',
    });
  });
});

describe('validating a text', () => {
  test('stores nothing and tells what a put would', async () => {
    const test = await testGovernance();
    await test.policies('name: file\nbudget: {daily_limit_usd: 1}');
    const { gov } = test;
    const told = (source: string, name?: string, by = operator) =>
      validatePolicy(gov, by, { source, name }).map(({ file, line, column, message }) => [file, line, column, message]);
    expect(told('default: deny', 'mine')).toEqual([]);
    expect(told('defualt: deny', 'mine')).toEqual([['mine', 1, 1, expect.stringContaining('unknown key')]]);
    expect(told('budget: {}', 'mine')).toEqual([['mine', 1, 1, 'another global document has a "budget"']]);
    expect(told('default: deny', 'file')).toEqual([['file', 1, 1, expect.stringContaining('stands in a file')]]);
    expect(told('name: a\n---\nname: a')).toEqual([['source', 3, 7, expect.stringContaining('exists already')]]);
    expect(told('name: file\nbudget: {daily_limit_usd: 2}\n---\nname: new')).toEqual([]);
    expect(told('budget: {}', 'mine', acme)).toEqual([['acme/mine', 1, 1, expect.stringContaining('its own tenant')]]);
    expect(told('scope: org:acme', undefined, acme)).toEqual([]);
    expect(listPolicies(gov, operator)).toHaveLength(1);
  });
});

describe('following other gateways', () => {
  const elsewhere = {
    name: 'theirs',
    version: 4,
    source: 'scope: org:acme',
    scope: 'org:acme',
    savedAt: 7,
    savedBy: operator.actor,
    note: '',
    width: 'unbound' as const,
  };
  const followPolicy = (gov: Governance, saved: PolicyVersion) =>
    policyFacts.policy_saved.apply(gov, { kind: 'policy_saved', saved }, atAnother);

  test('puts in force what they have stored, and never what is older', async () => {
    const test = await testGovernance();
    followPolicy(test.gov, elsewhere);
    expect(inForce(test)).toEqual(['theirs']);
    followPolicy(test.gov, { ...elsewhere, version: 3, source: null });
    expect(inForce(test)).toEqual(['theirs']);
    expect((await put(test, 'theirs', 'scope: org:acme')).saved?.version).toBe(5);
    followPolicy(test.gov, { ...elsewhere, version: 6, source: null });
    expect(inForce(test)).toEqual([]);
  });

  test('sets aside what cannot be in force here until the files let it', async () => {
    const test = await testGovernance();
    await test.policies('name: theirs\ndefault: deny');
    const told: number[] = [];
    test.gov.policyRegistry.watch(() => told.push(test.gov.policyRegistry.inForce.setAside.length));
    followPolicy(test.gov, elsewhere);
    expect(told).toEqual([1]);
    expect(test.gov.policies.documents).toMatchObject([{ scope: { tier: 'global' } }]);
    await test.policies('name: other\ndefault: deny');
    expect(inForce(test)).toEqual(['other', 'theirs']);
  });
});

describe('what was in force', () => {
  test('is found by its version, with files and stored documents', async () => {
    const test = await testGovernance();
    await test.policies('name: file');
    const before = test.gov.policies.version;
    await put(test, 'mine', 'default: allow');
    const { find } = { find: (version: string) => test.store.policies.find(version) };
    expect(await find(before)).toEqual([{ file: 'policy-1.yaml', text: 'name: file' }]);
    expect(await find(test.gov.policies.version)).toEqual([
      { file: 'policy-1.yaml', text: 'name: file' },
      { file: 'mine', name: 'mine', author: 'unbound', text: 'default: allow' },
    ]);
    expect(await find('unknown')).toBeUndefined();
  });
});
