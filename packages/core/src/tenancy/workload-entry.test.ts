import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentKey, isId } from '../kernel/ids.ts';
import type { WorkloadIssuer } from './workload-entry.ts';
import { matchWorkload, parseAgentTemplate, parseClaimMatch } from './workload-entry.ts';

function entry(match: Readonly<Record<string, string>>, agent: string): WorkloadIssuer {
  const parsed = Object.entries(match).map(([claim, glob]) => parseClaimMatch(claim, glob));
  const captures = parsed.flatMap(({ glob }) => glob.names);
  return { issuer: 'x', audiences: ['y'], match: parsed, agent: parseAgentTemplate(agent, captures), registers: false };
}

const agentOf = (made: WorkloadIssuer, claims: Record<string, unknown>) => {
  const match = matchWorkload(made, claims);
  return match.ok ? agentKey(match.agentId) : undefined;
};

const kubernetes = { sub: 'system:serviceaccount:{ns:*}:{sa:*}' };

describe('an entry', () => {
  test('makes an agent of captures and claims', () => {
    const made = entry(kubernetes, 'acme/{ns}/{sa}');
    expect(agentOf(made, { sub: 'system:serviceaccount:prod:bot' })).toBe('acme/prod/bot');
    const nested = entry(
      { 'kubernetes\\.io.namespace': 'prod*' },
      'acme/{kubernetes\\.io.namespace}/k8s-{kubernetes\\.io.pod.name}',
    );
    const claims = { 'kubernetes.io': { namespace: 'prod-eu', pod: { name: 'bot-1' } } };
    expect(agentOf(nested, claims)).toBe('acme/prod-eu/k8s-bot-1');
    expect(agentOf(entry({ sub: '**' }, '-/-/{sub}'), { sub: 'bot' })).toBe('//bot');
    expect(agentOf(entry({ n: '4?' }, 'a/b/{n}-{ok}'), { n: 42, ok: true })).toBe('a/b/42-true');
    expect(agentOf(entry({ 'a/b': '*' }, 'acme/x/{a/b}'), { 'a/b': 'bot' })).toBe('acme/x/bot');
  });

  test('takes a capture before a claim of the same name', () => {
    expect(agentOf(entry({ sub: 'x-{sub:*}' }, 'a/b/{sub}'), { sub: 'x-y' })).toBe('a/b/y');
  });

  test('matches an item of a list, if no two differ', () => {
    const made = entry({ groups: 'team-{team:*}' }, 'acme/{team}/bot');
    expect(agentOf(made, { groups: ['all', 'team-red'] })).toBe('acme/red/bot');
    expect(agentOf(made, { groups: ['team-red', 'team-blue'] })).toBeUndefined();
    expect(agentOf(made, { groups: [] })).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>]>([
    ['is missing', {}],
    ['is empty', { sub: 'system:serviceaccount:prod:' }],
    ['holds a slash', { sub: 'system:serviceaccount:prod:a/b' }],
    ['holds a colon', { sub: 'system:serviceaccount:prod:a:b' }],
    ['would climb', { sub: 'system:serviceaccount:..:bot' }],
    ['is a dash, which is no empty org', { sub: 'system:serviceaccount:-:bot' }],
    ['is too long', { sub: `system:serviceaccount:prod:${'x'.repeat(129)}` }],
    ['is an object', { sub: {} }],
    ['is null', { sub: null }],
    ['does not match', { sub: 'system:node:x:y' }],
  ])('does not match what %s', (_what, claims) => {
    expect(agentOf(entry(kubernetes, 'acme/{ns}/{sa}'), claims)).toBeUndefined();
  });

  test('finds no claim where none is: neither members of texts nor of prototypes', () => {
    for (const name of ['sub.length', 'toString.name', '__proto__.x', 'constructor']) {
      expect(agentOf(entry({ sub: '*' }, `a/b/{${name}}`), { sub: 'bot' })).toBeUndefined();
    }
  });
});

test.each([
  ['acme/x', 'must be ORG/TEAM/AGENT'],
  ['acme/x/y/z', 'must be ORG/TEAM/AGENT'],
  ['acme//y', 'must be ORG/TEAM/AGENT'],
  ['acme/x/-', 'must be ORG/TEAM/AGENT'],
  ['acme/x/y z', 'holds what an id does not permit'],
  ['acme/x/{}', 'names no claim'],
  ['acme/x/{a..b}', 'names no claim'],
  ['acme/x/{a', 'holds what an id does not permit'],
])('the agent %s is refused', (text, expected) => {
  expect(() => parseAgentTemplate(text, [])).toThrow(expected);
});

test('whatever the claims are, an agent has valid ids, its literal parts, and an empty org only if the entry says so', () => {
  const made = [
    entry({ sub: '{a:**}:{b:**}' }, 'acme/{a}/{b}'),
    entry({ sub: '**' }, 'acme/t-{sub}/{x.y}'),
    entry({ sub: '**' }, '{sub}/-/bot-{sub}'),
  ];
  const text = fc.oneof(fc.string({ maxLength: 12 }), fc.stringMatching(/^[a-z/.:-]{0,12}$/));
  const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text), fc.record({ y: text }));
  fc.assert(
    fc.property(fc.record({ sub: value, x: value }, { requiredKeys: [] }), (claims) => {
      for (const [index, one] of made.entries()) {
        const match = matchWorkload(one, claims);
        if (!match.ok) continue;
        const { orgId, teamId, agentId } = match.agentId;
        expect(isId(agentId) && isId(orgId) && (index === 2 ? teamId === '' : isId(teamId))).toBe(true);
        if (index < 2) expect(orgId).toBe('acme');
      }
    }),
    { numRuns: 2000 },
  );
});
