import { expect, test } from 'vitest';
import type { Policy } from './policy-list.ts';
import { nameIn } from './document-name.ts';
import { byScope, isChangeable, newDocument, scopeTitle } from './policy-list.ts';

const policy = (name: string, scope: string): Policy => ({
  name,
  scope,
  mode: 'enforce',
  default: null,
  rules: 1,
  has_budget: false,
  has_pricing: false,
  origin: 'store',
  file: null,
  version: 1,
  updated_at: null,
  updated_by: null,
  width: 'unbound',
});

test('groups documents by scope, the widest first, each group by name', () => {
  const groups = byScope([
    policy('d', 'agent:acme/core/bot'),
    policy('b', 'org:acme'),
    policy('c', 'team:acme/core'),
    policy('z', 'global'),
    policy('a', 'global'),
    policy('e', 'org:a-first'),
  ]);
  expect(groups.map(({ scope, policies }) => [scope, policies.map(({ name }) => name)])).toEqual([
    ['global', ['a', 'z']],
    ['org:a-first', ['e']],
    ['org:acme', ['b']],
    ['team:acme/core', ['c']],
    ['agent:acme/core/bot', ['d']],
  ]);
});

test.each([
  ['global', 'Everybody'],
  ['org:acme', 'Org acme'],
  ['team:acme/core', 'Team acme/core'],
])('the scope %s is called %s', (scope, title) => {
  expect(scopeTitle(scope)).toBe(title);
});

test.each([
  ['name: base\nrules: []', 'base'],
  ['# about\nname: "with space" # why', 'with space'],
  ["scope: global\nname: 'quoted'", 'quoted'],
  ['rules:\n  - name: not-this', undefined],
  [newDocument, 'my-policy'],
])('finds the name in %j', (source, name) => {
  expect(nameIn(source)).toBe(name);
});

test('a document is changed by whoever reaches as far as the widest that has written it', () => {
  const unbound = { orgId: null, teamId: null };
  const org = { orgId: 'acme', teamId: null };
  const team = { orgId: 'acme', teamId: 'web' };
  const table = (['unbound', 'org', 'team', null] as const).map((width) =>
    [unbound, org, team].map((grant) => isChangeable({ width }, grant)),
  );
  expect(table).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, true],
    [false, false, false],
  ]);
});
