import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Width } from '../../access/authority.ts';
import { isAtLeastAsWide, widest, widths } from '../../access/authority.ts';
import type { Principal } from '../../access/principal.ts';
import { ReeveError } from '../../kernel/errors.ts';
import { agentId, operator } from '../../testkit/requests.ts';
import type { TestGovernance } from '../../testkit/test-governance.ts';
import { testGovernance } from '../../testkit/test-governance.ts';
import { deletePolicy, putPolicy, rollbackPolicy, validatePolicy } from './change-policy.ts';
import { findPolicy, listPolicies, policyVersions } from './find-policies.ts';
import { versionsKept } from './policy-version.ts';

const org: Principal = { ...operator, orgId: 'acme' };
const team: Principal = { ...org, teamId: 'web' };
const callers: Readonly<Record<Width, Principal>> = { unbound: operator, org, team };
const source = 'scope: team:acme/web\nrules: []\n';

/** Ends turns until the work has settled. Returns `done` or the code of the refusal. */
async function outcome({ turn }: TestGovernance, work: Promise<unknown>): Promise<string> {
  const state: { result?: string } = {};
  work.then(
    () => (state.result = 'done'),
    (error: unknown) => (state.result = error instanceof ReeveError ? error.code : String(error)),
  );
  for (let turns = 0; turns < 100 && state.result === undefined; turns++) {
    turn();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return state.result ?? 'never';
}

const put = (on: TestGovernance, by: Principal, name: string, text = source) =>
  outcome(on, putPolicy(on.gov, by, { name, source: text, note: '' }));

/** Every way to change an existing document. */
const changes: Readonly<Record<string, (on: TestGovernance, by: Principal, name: string) => Promise<string>>> = {
  put: (on, by, name) => put(on, by, name),
  rollback: (on, by, name) => outcome(on, rollbackPolicy(on.gov, by, { name, version: 1, note: '' })),
  delete: (on, by, name) => outcome(on, deletePolicy(on.gov, by, name)),
};

describe('who may change a document', () => {
  const cases = Object.keys(changes).flatMap((change) =>
    widths.flatMap((writer) => widths.map((caller) => [change, caller, writer] as const)),
  );

  test.each(cases)('%s by a credential as wide as %s of what %s has written', async (change, caller, writer) => {
    const on = await testGovernance();
    const name = writer === 'team' ? 'acme/web/x' : writer === 'org' ? 'acme/x' : 'x';
    expect(await put(on, callers[writer], name)).toBe('done');
    const allowed = isAtLeastAsWide(caller, writer);
    expect(await changes[change]?.(on, callers[caller], name)).toBe(allowed ? 'done' : 'imposed_by_wider');
  });

  test('the widest that has ever written it counts, over any sequence of changes', async () => {
    const step = fc.record({ by: fc.constantFrom(...widths), change: fc.constantFrom('put', 'rollback', 'delete') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const on = await testGovernance();
        await put(on, team, 'x');
        let width: Width = 'team';
        for (const { by, change } of steps) {
          const result = await changes[change]?.(on, callers[by], 'acme/web/x');
          const gone =
            on.gov.policyRegistry.find('acme/web/x') === undefined && change === 'delete' && result !== 'done';
          if (!isAtLeastAsWide(by, width))
            expect(['imposed_by_wider', ...(gone ? ['policy_not_found'] : [])]).toContain(result);
          if (result === 'done') width = widest(width, by);
          expect(on.gov.policyRegistry.newest('acme/web/x')?.width).toBe(width);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('also once it was taken away, and once the version that it wrote is no longer kept', async () => {
    const on = await testGovernance();
    const ours = 'scope: org:acme\nrules: []';
    await put(on, operator, 'cap', ours);
    expect(await outcome(on, deletePolicy(on.gov, operator, 'cap'))).toBe('done');
    expect(await put(on, org, 'cap', ours)).toBe('imposed_by_wider');
    expect(await outcome(on, rollbackPolicy(on.gov, org, { name: 'cap', version: 1, note: '' }))).toBe(
      'imposed_by_wider',
    );
    await put(on, org, 'mine', ours);
    await put(on, operator, 'acme/mine', ours);
    for (let each = 0; each < versionsKept; each++) await put(on, operator, 'acme/mine', ours);
    expect(await put(on, org, 'mine', ours)).toBe('imposed_by_wider');
  });

  test('another team of the same org reaches nothing of it', async () => {
    const on = await testGovernance();
    await put(on, team, 'x');
    const ads = { ...org, teamId: 'ads' };
    expect(await put(on, ads, 'acme/web/x')).toBe('tenant_bound');
    expect(await outcome(on, deletePolicy(on.gov, ads, 'acme/web/x'))).toBe('policy_not_found');
  });
});

describe('names', () => {
  test('of documents of a bound author have its namespace, wherever they are told', async () => {
    const on = await testGovernance();
    await on.policies('name: base\ndefault: deny');
    const agent = await on.register(agentId('acme/web/bot'));
    const text = 'name: x\nscope: team:acme/web\nrules:\n  - {name: r, effect: allow}\n';
    expect(await put(on, team, 'x', text)).toBe('done');
    expect(await on.check(agent)).toMatchObject({ policyRule: 'acme/web/x/r' });
    expect(findPolicy(on.gov, team, 'x').document.name).toBe('acme/web/x');
    expect(findPolicy(on.gov, org, 'acme/web/x').document.name).toBe('acme/web/x');
    expect(listPolicies(on.gov, team).map(({ document }) => document.name)).toEqual(['acme/web/x']);
    expect((await policyVersions(on.gov, team, 'x', { limit: 5 })).versions).toMatchObject([{ name: 'acme/web/x' }]);
    expect((await on.audit()).find(({ payload }) => payload['change'] === 'put')?.payload['name']).toBe('acme/web/x');
    expect(on.events).toContainEqual(
      expect.objectContaining({ type: 'policy', document: expect.objectContaining({ name: 'acme/web/x' }) as unknown }),
    );
    expect(await put(on, team, 'acme/web/x', text.replace('name: x', 'name: acme/web/x'))).toBe('done');
    expect(await put(on, team, 'x', text.replace('name: x', 'name: web/x'))).toBe('policy_invalid');
  });

  test.each([
    ['acme/x', 'policy_not_found'],
    ['acme/web/x', 'policy_not_found'],
    ['a/b/c/d', 'invalid_argument'],
    ['/x', 'invalid_argument'],
    ['acme/', 'invalid_argument'],
  ])('of documents that an unbound author makes are not %s', async (name, code) => {
    const on = await testGovernance();
    expect(await put(on, operator, name, 'scope: org:acme')).toBe(code);
  });

  test.each([
    [org, 'umbrella/x'],
    [org, 'acme/web/new'],
    [team, 'acme/x'],
    [team, 'acme/ads/x'],
  ])('of a bound author lie in no other namespace', async (by, name) => {
    const on = await testGovernance();
    expect(await put(on, by, name)).toBe('tenant_bound');
  });

  test('of a tenant are for documents of that tenant, whoever writes them', async () => {
    const on = await testGovernance();
    await put(on, org, 'x', 'scope: org:acme');
    expect(await put(on, operator, 'acme/x', 'rules: []')).toBe('policy_invalid');
    expect(await put(on, operator, 'acme/x', 'scope: org:umbrella')).toBe('policy_invalid');
    expect(await put(on, operator, 'acme/x', 'scope: org:acme\nrules: []')).toBe('done');
    expect(await put(on, org, 'x', 'scope: org:acme')).toBe('imposed_by_wider');
  });

  test('without a namespace mean the own document first, then the operator’s that can be seen', async () => {
    const on = await testGovernance();
    await put(on, operator, 'cap', 'scope: org:acme\n# theirs');
    expect(findPolicy(on.gov, org, 'cap').text).toContain('theirs');
    expect(await put(on, org, 'cap', 'scope: org:acme\n# ours')).toBe('imposed_by_wider');
    expect(await put(on, org, 'acme/cap', 'scope: org:acme\n# ours')).toBe('done');
    expect(findPolicy(on.gov, org, 'cap').text).toContain('ours');
    expect(findPolicy(on.gov, operator, 'cap').text).toContain('theirs');
  });

  test('without a namespace that the operator has written are the operator’s to change and delete', async () => {
    const on = await testGovernance();
    await put(on, operator, 'legacy', 'scope: org:acme\nrules: []');
    expect(on.gov.policyRegistry.newest('legacy')?.width).toBe('unbound');
    expect(await put(on, org, 'legacy', 'scope: org:acme')).toBe('imposed_by_wider');
    expect(await outcome(on, deletePolicy(on.gov, operator, 'legacy'))).toBe('done');
  });

  test('are checked by validation as a put checks them', async () => {
    const on = await testGovernance();
    const told = (by: Principal, name: string, text = source) =>
      validatePolicy(on.gov, by, { source: text, name }).map(({ file, message }) => [file, message]);
    expect(told(team, 'x')).toEqual([]);
    expect(told(team, 'x', 'scope: team:acme/web\nrulez: 1')).toEqual([
      ['acme/web/x', expect.stringContaining('rulez')],
    ]);
    await put(on, operator, 'cap', source);
    expect(told(team, 'cap')).toEqual([['cap', expect.stringContaining('the operator has written')]]);
    expect(told(operator, 'acme/x')).toEqual([['acme/x', expect.stringContaining('no "/"')]]);
  });
});
