import { describe, expect, test } from 'vitest';
import { browserName } from './browser-name.ts';
import { tabsFor, whyHidden } from './identity-tabs.ts';
import type { ApiKey } from './key-model.ts';
import { bindingOf, foundKeys, scopesOf, stateOf } from './key-model.ts';
import type { Member } from './member-rules.ts';
import { foundMembers, givenRoles, whyFixed } from './member-rules.ts';

const now = Date.parse('2030-01-02T00:00:00.000Z');

function member(id: string, changed: Partial<Member> = {}): Member {
  return {
    id,
    email: `${id}@example.com`,
    name: '',
    role: 'developer',
    status: 'active',
    created_at: '2030-01-01T00:00:00.000Z',
    last_login_at: null,
    org_id: null,
    team_id: null,
    has_password: true,
    ...changed,
  };
}

function key(id: string, changed: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    label: `key ${id}`,
    scopes: ['read'],
    org_id: null,
    team_id: null,
    created_at: '2030-01-01T00:00:00.000Z',
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
    ...changed,
  };
}

describe('the tabs', () => {
  const both = { hasAccounts: true, hasPasswords: true };
  const none = { hasAccounts: false, hasPasswords: false };
  const shown = (...args: Parameters<typeof tabsFor>) => tabsFor(...args).map(({ value }) => value);

  test('are those that the credential may see', () => {
    const admin = { kind: 'account', scopes: ['read', 'write', 'admin'], orgId: null } as const;
    expect(shown(admin, both)).toEqual(['members', 'invites', 'keys', 'sessions', 'account']);
    expect(shown(admin, { hasAccounts: true, hasPasswords: false })).toEqual([
      'members',
      'keys',
      'sessions',
      'account',
    ]);
    expect(shown({ ...admin, scopes: ['read'] }, both)).toEqual(['sessions', 'account']);
    expect(shown({ ...admin, kind: 'api_key' }, both)).toEqual(['members', 'invites', 'keys', 'account']);
    expect(shown({ ...admin, kind: 'api_key', orgId: 'acme' }, both)).toEqual(['invites', 'keys', 'account']);
    expect(shown({ ...admin, kind: 'api_key' }, none)).toEqual(['keys', 'account']);
  });

  test('a link to another one is told why it is not there', () => {
    const bound = { kind: 'api_key', scopes: ['admin'], orgId: 'acme' } as const;
    expect(whyHidden('members', bound, both)).toContain('acme');
    expect(whyHidden('members', { ...bound, orgId: null }, none)).toContain('no account store');
    expect(whyHidden('members', { ...bound, scopes: ['read'] }, both)).toContain('administrators');
    expect(whyHidden('sessions', bound, both)).toContain('An API key has none');
    const signOn = { hasAccounts: true, hasPasswords: false };
    expect(whyHidden('invites', { ...bound, orgId: null }, signOn)).toContain('Passwords are off');
  });
});

describe('members', () => {
  test('an owner is changed by owners only, and the last active one by nobody', () => {
    const first = member('a', { role: 'owner' });
    const second = member('b', { role: 'owner' });
    const resting = member('c', { role: 'owner', status: 'disabled' });
    expect(whyFixed(first, [first, second], true)).toBeUndefined();
    expect(whyFixed(first, [first, second], false)).toContain('Only an owner');
    expect(whyFixed(first, [first, resting, member('d')], true)).toContain('last owner');
    expect(whyFixed(resting, [first, resting], true)).toBeUndefined();
    expect(whyFixed(member('d'), [first], false)).toBeUndefined();
  });

  test('only an owner gives the role of an owner', () => {
    expect(givenRoles(true).map(({ value }) => value)).toContain('owner');
    expect(givenRoles(false).map(({ value }) => value)).not.toContain('owner');
  });

  test('are found by name, email and role', () => {
    const all = [member('a', { name: 'Vera' }), member('b', { role: 'viewer' })];
    expect(foundMembers(all, 'VER').map(({ id }) => id)).toEqual(['a']);
    expect(foundMembers(all, 'viewer').map(({ id }) => id)).toEqual(['b']);
    expect(foundMembers(all, undefined)).toHaveLength(2);
  });
});

describe('keys', () => {
  test('work until they expire or are revoked', () => {
    expect(stateOf(key('a'), now)).toBe('active');
    expect(stateOf(key('a', { expires_at: '2030-01-02T00:00:00.000Z' }), now)).toBe('expired');
    expect(stateOf(key('a', { revoked_at: '2030-01-01T00:00:00.000Z' }), now)).toBe('revoked');
  });

  test('those that work are shown, all where that is asked for', () => {
    const all = [key('a'), key('b', { revoked_at: '2030-01-01T00:00:00.000Z' }), key('c', { org_id: 'acme' })];
    const ids = (...args: Parameters<typeof foundKeys>) => foundKeys(...args).map(({ id }) => id);
    expect(ids(all, {}, now)).toEqual(['a', 'c']);
    expect(ids(all, { show: 'all' }, now)).toEqual(['a', 'b', 'c']);
    expect(ids(all, { q: 'acme' }, now)).toEqual(['c']);
  });

  test('a higher scope is asked for with the lower ones, and a binding reads as a path', () => {
    expect(scopesOf('write')).toEqual(['read', 'write']);
    expect([bindingOf(key('a')), bindingOf(key('a', { org_id: 'o', team_id: 't' }))]).toEqual(['All orgs', 'o/t']);
  });
});

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36',
    'Chrome on Linux',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox on Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17 like Mac OS X) AppleWebKit/605 Version/17.0 Mobile Safari/604',
    'Safari on iPhone',
  ],
  ['curl/8.5.0', 'curl'],
  ['node', 'node'],
  ['', 'Unknown program'],
])('the program %j is called %j', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});
