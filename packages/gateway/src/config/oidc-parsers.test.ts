import { describe, expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';
import { issuer, oidcScopes, roleInTenant, roleRules } from './oidc-parsers.ts';

describe('the issuer', () => {
  test.each([
    'https://id.example.com/realms/x',
    'http://127.0.0.1:9000',
    'http://localhost:9000/',
    'http://[::1]:9000',
  ])('%s is one', (url) => {
    expect(issuer(url)).toBe(url);
  });

  test.each([
    'http://id.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'https://user@id.example.com',
    'https://id.example.com?x',
    'ftp://id.example.com',
    'id.example.com',
  ])('%s is no issuer', (url) => {
    expect(() => issuer(url)).toThrow('https://');
  });
});

test('rules name value, role and tenant, in order', () => {
  expect(roleRules(' cn=admins = owner , a@b=developer@acme/core,/acme/ops=viewer@acme')).toEqual([
    { value: 'cn=admins', role: 'owner', orgId: null, teamId: null },
    { value: 'a@b', role: 'developer', orgId: 'acme', teamId: 'core' },
    { value: '/acme/ops', role: 'viewer', orgId: 'acme', teamId: null },
  ]);
});

test.each([
  '',
  'admins',
  '=admin',
  'a=root',
  'a=admin@',
  'a=admin@acme/',
  'a=admin@acme/x/y',
  'a=admin@-x',
  'a=admin,',
])('%j is no list of rules', (text) => {
  expect(() => roleRules(text)).toThrow('<value>=<role>[@org[/team]]');
});

test('a default role may hold in a tenant, and scopes hold openid', () => {
  expect(roleInTenant('viewer@acme')).toEqual({ role: 'viewer', orgId: 'acme', teamId: null });
  expect(oidcScopes(' openid  groups ')).toBe('openid groups');
  expect(() => oidcScopes('email profile')).toThrow('openid');
});

test.each<[Record<string, string>, string]>([
  [{ SVC_OIDC_ISSUER: 'https://id.example.com' }, 'SVC_OIDC_CLIENT_ID is not'],
  [{ SVC_OIDC_CLIENT_ID: 'reeve' }, 'SVC_OIDC_ISSUER is not'],
  [{ SVC_OIDC_ROLES: 'a=admin' }, 'SVC_OIDC_ISSUER is not'],
  [{ SVC_OIDC_LINK_BY_EMAIL: 'true' }, 'SVC_OIDC_ISSUER is not'],
  [
    { SVC_OIDC_ISSUER: 'https://id.example.com', SVC_OIDC_CLIENT_ID: 'reeve', SVC_DATABASE_URL: 'memory:' },
    'no accounts with "memory:"',
  ],
])('%j contradicts itself', (env, words) => {
  expect(() => loadConfig({ flags: {}, env })).toThrow(words);
});
