import { describe, expect, test } from 'vitest';
import { agentId, operator } from '../testkit/requests.ts';
import type { Principal, Scope } from './principal.ts';
import { mayReach, narrowedTo, requireReach, requireScope, requireUnbound, covers, scopes } from './principal.ts';

describe('scopes', () => {
  test('rise from read over write to admin', () => {
    expect(scopes).toEqual(['read', 'write', 'admin']);
  });

  const matrix: readonly (readonly [readonly Scope[], readonly Scope[]])[] = [
    [[], []],
    [['read'], ['read']],
    [['write'], ['read', 'write']],
    [['admin'], ['read', 'write', 'admin']],
    [
      ['read', 'write'],
      ['read', 'write'],
    ],
    [
      ['read', 'admin'],
      ['read', 'write', 'admin'],
    ],
  ];
  test.each(matrix)('%j covers %j and nothing else', (granted, covered) => {
    expect(scopes.filter((scope) => covers(granted, scope))).toEqual(covered);
    for (const needed of scopes) {
      const gate = () => requireScope({ ...operator, scopes: granted }, needed);
      if (covered.includes(needed)) expect(gate).not.toThrow();
      else {
        const has = granted.join(', ') || 'none';
        expect(gate).toThrow(
          expect.objectContaining({
            code: 'insufficient_scope',
            message: `this needs the scope "${needed}"; the credential has ${has}`,
            facts: { required_scope: needed },
          }),
        );
      }
    }
  });
});

describe('the reach of a credential', () => {
  const agents = ['acme/search/bot', 'acme/other/bot', 'acme//bot', 'umbrella/search/bot', '/search/bot', '//bot'];
  const bound = (orgId: string | null, teamId: string | null): Principal => ({ ...operator, orgId, teamId });

  test.each<[string, Principal, string[]]>([
    ['bound to nothing', bound(null, null), agents],
    ['bound to an org', bound('acme', null), ['acme/search/bot', 'acme/other/bot', 'acme//bot']],
    ['bound to a team', bound('acme', 'search'), ['acme/search/bot']],
    ['bound to an org without agents', bound('initech', null), []],
  ])('%s', (_, principal, reached) => {
    expect(agents.filter((id) => mayReach(principal, agentId(id)))).toEqual(reached);
    for (const id of agents) {
      const gate = () => requireReach(principal, agentId(id));
      if (reached.includes(id)) expect(gate).not.toThrow();
      else expect(gate).toThrow(expect.objectContaining({ code: 'outside_tenant' }));
    }
  });

  test('what concerns the whole gateway is refused to whoever is bound', () => {
    expect(() => requireUnbound(bound(null, null))).not.toThrow();
    expect(() => requireUnbound(bound('acme', null))).toThrow(expect.objectContaining({ code: 'tenant_bound' }));
  });

  test.each([
    [bound(null, null), {}, {}],
    [bound(null, null), { orgId: 'acme' }, { orgId: 'acme' }],
    [bound('acme', null), {}, { orgId: 'acme' }],
    [bound('acme', null), { orgId: 'acme' }, { orgId: 'acme' }],
    [bound('acme', null), { orgId: 'umbrella' }, 'nothing'],
    [bound('acme', null), { orgId: '' }, 'nothing'],
    [bound('acme', 'search'), {}, { orgId: 'acme', teamId: 'search' }],
    [bound('acme', 'search'), { teamId: 'other' }, 'nothing'],
    [bound('acme', null), { teamId: 'other' }, { orgId: 'acme', teamId: 'other' }],
  ])('a filter only narrows it (%#)', (principal, filter, expected) => {
    expect(narrowedTo(principal, filter)).toEqual(expected);
  });
});
