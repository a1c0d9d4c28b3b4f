import { describe, expect, test } from 'vitest';
import type { Governance } from '../../governance.ts';
import { agentId, operator } from '../../testkit/requests.ts';
import { testGovernance } from '../../testkit/test-governance.ts';
import { loadPolicies } from '../load-policies.ts';
import { parseSource } from '../parse-source.ts';
import { inForce } from './in-force.ts';
import type { StoredPolicy } from './in-force.ts';
import type { PolicyVersion } from './policy-version.ts';

function stored(name: string, source: string, members: Partial<PolicyVersion> = {}): PolicyVersion {
  const saved = { name, source, version: 1, scope: 'global', savedAt: 7, savedBy: operator.actor, note: '' };
  return { ...saved, width: 'unbound', ...members };
}

function kept(...versions: readonly PolicyVersion[]): ReadonlyMap<string, StoredPolicy> {
  return new Map(
    versions.map((saved) => [
      saved.name,
      { saved, parsed: parseSource({ file: saved.name, name: saved.name, text: saved.source ?? '' }, {}) },
    ]),
  );
}

const file = (text: string) => parseSource({ file: 'late.yaml', text }, {});

const together = (files: string[], ...versions: readonly PolicyVersion[]) => {
  const found = inForce({ files: files.map(file), stored: kept(...versions) });
  return {
    names: found.sources.flatMap(({ documents }) => documents.map(({ document }) => document.name)),
    documents: found.sources.flatMap(({ documents }) => documents.map(({ document }) => document)),
    setAside: found.setAside,
  };
};

describe('what is in force together', () => {
  test('a file counts, and a stored document of its name does not', () => {
    const found = together(['name: a\ndefault: deny'], stored('a', 'default: allow'), stored('b', 'rules: []'));
    expect(found.names).toEqual(['a', 'b']);
    expect(found.documents[0]?.default).toBe('deny');
    expect(found.setAside).toMatchObject([
      { name: 'a', message: expect.stringMatching(/^late\.yaml:1:7: this file counts/) },
    ]);
  });

  test('of a stored document whose budget a file has, too, the rules count', () => {
    const rules = 'budget: {daily_limit_usd: 1}\npricing: {}\nrules:\n  - {name: no, effect: deny}';
    const found = together(['name: a\nbudget: {daily_limit_usd: 2}'], stored('b', rules));
    expect(found.documents[1]).toMatchObject({ name: 'b', rules: [{ name: 'no' }], pricing: {} });
    expect(found.documents[1]?.budget).toBeUndefined();
    expect(found.setAside).toHaveLength(1);
  });

  test('in place of a stored document that cannot be read, everything in its scope is denied', () => {
    const found = together(
      ['name: a\ndefault: allow'],
      stored('acme/x', 'scope: org:acme\nrulez: []', { scope: 'org:acme', width: 'org' }),
      stored('gone', 'default: [', { scope: 'nonsense' }),
    );
    expect(found.documents).toMatchObject([
      { name: 'a' },
      { name: 'acme/x', scope: { tier: 'org', orgId: 'acme' }, rules: [{ effect: 'deny', matchers: {} }] },
      { name: 'gone', scope: { tier: 'global' }, rules: [{ effect: 'deny' }] },
    ]);
    expect(found.setAside[0]?.problem).toMatchObject({
      file: 'acme/x',
      line: 2,
      message: expect.stringContaining('rulez'),
    });
    for (const { message } of found.setAside) expect(message).not.toMatch(/acme|gone|rulez/);
  });
});

test('nothing that is stored stops a start, and its place in the scope is denied', async () => {
  const on = await testGovernance();
  const bad = stored('acme/x', 'scope: org:acme\nrulez: []', { scope: 'org:acme', width: 'org' });
  on.gov.policyRegistry.restore([bad, stored('base', 'default: deny')]);
  const load = (gov: Governance) => loadPolicies(gov, [{ file: 'base.yaml', text: 'name: base\ndefault: allow' }]);
  const loading = load(on.gov);
  on.turn();
  expect(await loading).toEqual([]);
  expect((await on.audit()).at(-1)).toMatchObject({
    event_type: 'PolicyReloaded',
    payload: { set_aside: [expect.stringContaining('acme/x:2:1'), expect.stringContaining('base.yaml:1:7')] },
  });
  const ours = await on.register(agentId('acme/search/bot'));
  const theirs = await on.register(agentId('umbrella/search/bot'));
  expect(await on.check(ours)).toMatchObject({ decision: 'deny', policyRule: 'acme/x/unreadable' });
  expect(await on.check(theirs)).toMatchObject({ decision: 'allow' });
});
