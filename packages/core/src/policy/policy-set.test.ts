import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Action, ActionType } from '../action/action.ts';
import { action, actionTypes } from '../action/action.ts';
import { userFrom } from '../action/user.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentId } from '../testkit/requests.ts';
import { slowGlobMatches } from '../testkit/slow-glob.ts';
import { sha256 } from '../testkit/test-governance.ts';
import type { Condition, Facts } from './condition.ts';
import type { Effect, Matchers, PolicyDocument, PolicyRule, PolicyScope } from './document.ts';
import { compileGlobOf } from './host-glob.ts';
import { parsePolicies } from './parse-policies.ts';
import type { Verdict } from './policy-set.ts';
import { PolicySet, policyVersion } from './policy-set.ts';

const dimensions = ['tools', 'models', 'hosts', 'paths', 'commands', 'users'] as const;
type Dimension = (typeof dimensions)[number];

/** A rule as a person would write it. */
interface Written {
  readonly effect: Effect;
  readonly actions?: readonly ActionType[];
  readonly globs: Partial<Record<Dimension, readonly string[]>>;
  readonly when?: 'true' | 'false' | 'throws';
}

interface WrittenDocument {
  readonly scope: PolicyScope;
  readonly default?: 'allow' | 'deny';
  readonly rules: readonly Written[];
}

const texts: Readonly<Record<Dimension, readonly string[]>> = {
  tools: ['search', 'read_file', 'read_web', 're', 'delete'],
  models: ['gpt-4', 'gpt-4-mini', 'claude'],
  hosts: ['example.com', 'api.example.com', 'evil.com'],
  paths: ['/data/a', '/data/b/c', '/etc/passwd', 'x'],
  commands: ['git', 'git push', 'rm', 'rm -rf /'],
  users: ['Ann@acme.com', 'bob@acme.com', 'svc-1', 'SVC-1'],
};
const globs: Readonly<Record<Dimension, readonly string[]>> = {
  tools: ['search', 'read_*', 're*', '*', '**', 'r?', '[rs]e*', '*_web', 'read_file', 'reading', 'delete'],
  models: ['gpt-4', 'gpt-*', 'gpt-4*', 'claude', '*-mini', '?*'],
  hosts: ['example.com', '*.example.com', 'EXAMPLE.com', '*.COM', 'evil.*', '*'],
  paths: ['/data/**', '/data/*', '/etc/passwd', '/**', '*', 'x', '/data/b/?'],
  commands: ['git', 'git *', 'git*', 'rm **', '*', 'rm', '**'],
  users: ['*', '*@acme.com', 'ANN@*', 'bob@acme.com', 'svc-*', 'SVC-1', '?*'],
};

const someGlobs: fc.Arbitrary<Written['globs']> = fc.record(
  Object.fromEntries(
    dimensions.map((dimension) => [
      dimension,
      fc.array(fc.constantFrom(...globs[dimension]), { minLength: 1, maxLength: 3 }),
    ]),
  ),
  { requiredKeys: [] },
);
/** Mostly rules about one thing, as people write them, and some about several things. */
const fewGlobs: fc.Arbitrary<Written['globs']> = fc
  .constantFrom(...dimensions)
  .chain((dimension) =>
    fc
      .array(fc.constantFrom(...globs[dimension]), { minLength: 1, maxLength: 3 })
      .map((list) => ({ [dimension]: list })),
  );

const someRule: fc.Arbitrary<Written> = fc.record(
  {
    effect: fc.constantFrom<Effect>('allow', 'allow', 'deny', 'require_approval'),
    actions: fc.uniqueArray(fc.constantFrom(...actionTypes), { minLength: 1, maxLength: 3 }),
    globs: fc.oneof(fc.constant({}), { weight: 6, arbitrary: fewGlobs }, { weight: 2, arbitrary: someGlobs }),
    when: fc.constantFrom('true', 'false', 'throws'),
  },
  { requiredKeys: ['effect', 'globs'] },
);

const someScope: fc.Arbitrary<PolicyScope> = fc.constantFrom<PolicyScope>(
  { tier: 'global' },
  { tier: 'global' },
  { tier: 'org', orgId: 'acme' },
  { tier: 'org', orgId: 'umbrella' },
  { tier: 'team', orgId: 'acme', teamId: 'search' },
  { tier: 'team', orgId: 'umbrella', teamId: 'search' },
  { tier: 'agent', orgId: 'acme', teamId: 'search', agentId: 'bot' },
  { tier: 'agent', orgId: '', teamId: '', agentId: 'bot' },
);

const someDocument: fc.Arbitrary<WrittenDocument> = fc
  .record({
    scope: someScope,
    default: fc.constantFrom('allow', 'deny', undefined),
    rules: fc.array(someRule, { maxLength: 5 }),
  })
  .map(({ default: fallback, ...document }) =>
    document.scope.tier === 'global' && fallback !== undefined ? { ...document, default: fallback } : document,
  );

const someAgent = fc
  .constantFrom('acme/search/bot', 'acme/search/other', 'acme/other/bot', 'umbrella/search/bot', '//bot')
  .map(agentId);

const someAction: fc.Arbitrary<Action> = fc.oneof(
  fc
    .record({
      type: fc.constantFrom('tool_call', 'tool_result'),
      tool: fc.constantFrom(...texts.tools),
      host: fc.constantFrom('', ...texts.hosts),
    })
    .map(({ type, tool, host }) =>
      action(type as ActionType, { tool, url: host === '' ? '' : `https://${host.toUpperCase()}/x` }),
    ),
  fc.constantFrom(...texts.models).map((model) => action('llm_call', { model })),
  fc.constantFrom(...texts.hosts).map((host) => action('network_call', { host })),
  fc.constantFrom(...texts.paths).map((path) => action('file_operation', { path })),
  fc.constantFrom(...texts.commands).map((line) => {
    const [command = '', ...commandArgs] = line.split(' ');
    return action('process_exec', { command, commandArgs });
  }),
  fc.constant(action('agent_spawn')),
);

const conditions: Readonly<Record<NonNullable<Written['when']>, Condition>> = {
  true: () => true,
  false: () => false,
  throws: () => {
    throw new Error('no such member');
  },
};

function compiled(rule: Written, name: string): PolicyRule {
  const matchers: { -readonly [Name in keyof Matchers]: Matchers[Name] } = {};
  if (rule.actions !== undefined) matchers.actions = new Set(rule.actions);
  for (const dimension of dimensions) {
    const list = rule.globs[dimension];
    if (list !== undefined) matchers[dimension] = list.map((glob) => compileGlobOf(dimension, glob));
  }
  return { name, effect: rule.effect, matchers, ...(rule.when === undefined ? {} : { when: conditions[rule.when] }) };
}

function setOf(documents: readonly WrittenDocument[]): PolicySet {
  const built = documents.map(
    ({ rules, ...document }, index): PolicyDocument => ({
      ...document,
      name: `d${index}`,
      rules: rules.map((rule, at) => compiled(rule, `r${at}`)),
    }),
  );
  return new PolicySet(built, 'v1');
}

/** Tries every rule of every document in turn, by the sentences of the contract, section 6. */
function linear(
  documents: readonly WrittenDocument[],
  agent: AgentId,
  asked: Action,
  user: string | null = null,
): Pick<Verdict, 'effect' | 'rule'> & { readonly asking?: readonly string[] } {
  if (documents.length === 0) return { effect: 'deny', rule: 'default' };
  const matching = documents.flatMap(({ scope, rules }, index) =>
    contains(scope, agent)
      ? rules.flatMap((rule, at) =>
          holds(rule, asked, user) ? [{ effect: rule.effect, rule: `d${index}/r${at}` }] : [],
        )
      : [],
  );
  for (const effect of ['deny', 'require_approval', 'allow'] as const) {
    const [first, ...others] = matching.filter((rule) => rule.effect === effect);
    if (first === undefined) continue;
    if (effect !== 'require_approval') return first;
    return { ...first, asking: [first, ...others].map(({ rule }) => rule) };
  }
  const says = (what: 'allow' | 'deny') =>
    documents.some(({ scope, default: said }) => scope.tier === 'global' && said === what);
  return { effect: says('allow') && !says('deny') ? 'allow' : 'deny', rule: 'default' };
}

function contains(scope: PolicyScope, agent: AgentId): boolean {
  if (scope.tier === 'global') return true;
  if (scope.orgId !== agent.orgId) return false;
  if (scope.tier === 'org') return true;
  if (scope.teamId !== agent.teamId) return false;
  return scope.tier === 'team' || scope.agentId === agent.agentId;
}

function holds(rule: Written, asked: Action, user: string | null): boolean {
  if (rule.actions !== undefined && !rule.actions.includes(asked.type)) return false;
  const own = { ...textsOf(asked), users: user === null ? [] : [user] };
  for (const dimension of dimensions) {
    const list = rule.globs[dimension];
    if (list === undefined) continue;
    const found = (own[dimension] ?? []).some((text) => {
      const anyCase = dimension === 'hosts' || (dimension === 'users' && text.includes('@'));
      const lower = (written: string) => (anyCase ? written.toLowerCase() : written);
      return list.some((glob) => slowGlobMatches(lower(glob), lower(text)));
    });
    if (!found) return false;
  }
  if (rule.when === 'throws') return rule.effect !== 'allow';
  return rule.when !== 'false';
}

function textsOf(asked: Action): Partial<Record<Dimension, readonly string[]>> {
  switch (asked.type) {
    case 'tool_call':
    case 'tool_result':
      return { tools: [asked.tool], hosts: asked.url === '' ? [] : [asked.url.slice('https://'.length, -'/x'.length)] };
    case 'llm_call':
      return { models: [asked.model] };
    case 'network_call':
      return { hosts: [asked.host] };
    case 'file_operation':
      return { paths: [asked.path] };
    case 'process_exec':
      return { commands: [asked.command, [asked.command, ...asked.commandArgs].join(' ')] };
    case 'agent_spawn':
      return {};
  }
}

function factsOf(id: AgentId, asked: Action, user: string | null): Facts {
  const record: AgentRecord = {
    id,
    tokenHash: null,
    name: '',
    framework: '',
    version: '',
    parent: null,
    metadata: {},
    toolNames: [],
    registeredAt: 0,
    suspension: null,
    controlled: false,
    registeredWith: [],
  };
  const nothing = { day_usd: 0, month_usd: 0 };
  return {
    agent: record,
    depth: 0,
    action: asked,
    now: 0,
    costUsd: 0,
    args: () => ({}),
    run: () => ({ id: '', checks: 0, spent_usd: 0, labels: [] }),
    annotations: () => ({}),
    user: () => (user === null ? null : userFrom(user.includes('@') ? { sub: 'u', email: user } : { sub: user })),
    spend: () => ({ global: nothing, org: nothing, team: nothing, agent: nothing }),
  };
}

function evaluate(set: PolicySet, agent: AgentId, asked: Action, user: string | null = null): Verdict {
  return set.evaluate(agent, asked, factsOf(agent, asked, user));
}

/** The decision, its rule, and all rules that ask. */
function judged(set: PolicySet, agent: AgentId, asked: Action, user: string | null = null) {
  const { effect, rule, asking } = evaluate(set, agent, asked, user);
  return asking === undefined ? { effect, rule } : { effect, rule, asking: asking.rules };
}

test('the index answers as every rule tried one after the other would, with the same rule', () => {
  fc.assert(
    fc.property(
      fc.array(someDocument, { maxLength: 6 }),
      someAgent,
      fc.array(someAction, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(null, ...texts.users),
      (documents, agent, actions, user) => {
        const set = setOf(documents);
        for (const asked of actions) {
          const found = judged(set, agent, asked, user);
          expect({ asked, user, ...found }).toEqual({ asked, user, ...linear(documents, agent, asked, user) });
        }
      },
    ),
    { numRuns: 1500 },
  );
});

test('so it does where many rules share prefixes', () => {
  const tool = fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 1, maxLength: 5 });
  const glob = fc.tuple(tool, fc.constantFrom('', '*', '**', '?', '[ab]')).map(([prefix, rest]) => prefix + rest);
  const rule = fc.record({
    effect: fc.constantFrom<Effect>('allow', 'deny', 'require_approval'),
    globs: fc.array(glob, { minLength: 1, maxLength: 3 }).map((tools) => ({ tools })),
  });
  const document = fc.record({
    scope: fc.constant<PolicyScope>({ tier: 'global' }),
    rules: fc.array(rule, { minLength: 20, maxLength: 60 }),
  });
  fc.assert(
    fc.property(document, fc.array(tool, { minLength: 10, maxLength: 10 }), (written, tools) => {
      const set = setOf([written]);
      const agent = agentId('acme/search/bot');
      for (const name of tools) {
        const asked = action('tool_call', { tool: name });
        expect({ name, ...judged(set, agent, asked) }).toEqual({ name, ...linear([written], agent, asked) });
      }
    }),
    { numRuns: 100 },
  );
});

test('without a proven user, a decision is what it would be without all rules that name users', () => {
  fc.assert(
    fc.property(fc.array(someDocument, { maxLength: 6 }), someAgent, someAction, (documents, agent, asked) => {
      const without = documents.map((document) => ({
        ...document,
        rules: document.rules.map((rule): Written => (rule.globs.users === undefined ? rule : never)),
      }));
      expect(judged(setOf(documents), agent, asked)).toEqual(judged(setOf(without), agent, asked));
    }),
    { numRuns: 500 },
  );
});

/** In the place of a rule, so that the others keep their names. */
const never: Written = { effect: 'allow', globs: { tools: ['no such tool'] } };

describe('what nobody can read', () => {
  const read = (text: string) => parsePolicies([{ file: 'p.yaml', text }], {}).documents;
  const decide = (rules: string, asked: Action) => {
    const set = new PolicySet(read(`name: p\ndefault: allow\nrules: [${rules}]`), 'v1');
    return evaluate(set, agentId('acme/search/bot'), asked).rule;
  };
  const host = action('network_call', { host: '169.254.169.254:99999' });
  const url = action('tool_call', { tool: 'fetch', url: 'http://[::ffff:169.254.169.254%25lo]/' });
  const path = action('file_operation', { path: 'file://server/etc/passwd' });

  test.each([
    ['deny', '["169.254.169.254"]', 'p/r'],
    ['deny', '["**"]', 'p/r'],
    ['deny', '[evil.com, other.com]', 'p/r'],
    ['require_approval', '["*.evil.com"]', 'p/r'],
    ['allow', '["169.254.169.254*"]', 'default'],
    ['allow', '["**"]', 'default'],
    ['allow', '["169.254.169.254:99999"]', 'p/r'],
  ])('a rule that is to %s %s: %s', (effect, hosts, rule) => {
    expect(decide(`{ name: r, effect: ${effect}, hosts: ${hosts} }`, host)).toBe(rule);
    if (!hosts.includes('99999')) expect(decide(`{ name: r, effect: ${effect}, hosts: ${hosts} }`, url)).toBe(rule);
  });

  test('counts with the other matchers, and for paths as well', () => {
    expect(decide('{ name: r, effect: deny, tools: [fetch], hosts: [evil.com] }', url)).toBe('p/r');
    expect(decide('{ name: r, effect: deny, tools: [other], hosts: [evil.com] }', url)).toBe('default');
    expect(decide('{ name: r, effect: deny, actions: [tool_call], hosts: [evil.com] }', host)).toBe('default');
    expect(decide('{ name: r, effect: deny, paths: ["/etc/**"] }', path)).toBe('p/r');
    expect(decide('{ name: r, effect: allow, paths: ["**"] }', path)).toBe('default');
    expect(decide('{ name: r, effect: deny, paths: ["/srv/*"] }', action('file_operation', { path: '/x' }))).toBe(
      'default',
    );
  });
});

describe('of rules that match', () => {
  const search = action('tool_call', { tool: 'search' });
  const agent = agentId('acme/search/bot');
  const everything = (effect: Effect): Written => ({ effect, globs: {} });
  const scopes: readonly PolicyScope[] = [
    { tier: 'global' },
    { tier: 'org', orgId: 'acme' },
    { tier: 'team', orgId: 'acme', teamId: 'search' },
    { tier: 'agent', orgId: 'acme', teamId: 'search', agentId: 'bot' },
  ];

  test.each([
    ['deny', 'require_approval'],
    ['deny', 'allow'],
    ['require_approval', 'allow'],
  ] as const)('%s beats %s, whatever their scopes and order', (stronger, weaker) => {
    for (const one of scopes) {
      for (const other of scopes) {
        const documents = [
          { scope: one, rules: [everything(stronger)] },
          { scope: other, rules: [everything(weaker)] },
        ];
        expect(evaluate(setOf(documents), agent, search)).toMatchObject({ effect: stronger, rule: 'd0/r0' });
        expect(evaluate(setOf(documents.toReversed()), agent, search)).toMatchObject({
          effect: stronger,
          rule: 'd1/r0',
        });
      }
    }
  });

  test.each(['allow', 'require_approval', 'deny'] as const)(
    'with the same effect, %s, the first one is reported',
    (effect) => {
      for (const one of scopes) {
        for (const other of scopes) {
          const set = setOf([
            { scope: one, rules: [everything(effect)] },
            { scope: other, rules: [everything(effect)] },
          ]);
          expect(evaluate(set, agent, search).rule).toBe('d0/r0');
        }
      }
    },
  );
});

describe('a document', () => {
  const search = action('tool_call', { tool: 'search' });
  const allow: readonly Written[] = [{ effect: 'allow', globs: {} }];
  const agents = [
    'acme/search/bot',
    'acme/search/other',
    'acme/other/bot',
    'umbrella/search/bot',
    '/search/bot',
    '//bot',
  ];
  const reach = (scope: PolicyScope) =>
    agents.filter((id) => evaluate(setOf([{ scope, rules: allow }]), agentId(id), search).effect === 'allow');

  test.each<[PolicyScope, string[]]>([
    [{ tier: 'global' }, agents],
    [{ tier: 'org', orgId: 'acme' }, ['acme/search/bot', 'acme/search/other', 'acme/other/bot']],
    [{ tier: 'org', orgId: 'umbrella' }, ['umbrella/search/bot']],
    [{ tier: 'team', orgId: 'acme', teamId: 'search' }, ['acme/search/bot', 'acme/search/other']],
    [{ tier: 'agent', orgId: 'acme', teamId: 'search', agentId: 'bot' }, ['acme/search/bot']],
    [{ tier: 'agent', orgId: '', teamId: '', agentId: 'bot' }, ['//bot']],
  ])('with the scope %j concerns only those in it', (scope, expected) => {
    expect(reach(scope)).toEqual(expected);
  });
});

describe('the default', () => {
  const search = action('tool_call', { tool: 'search' });
  const agent = agentId('acme/search/bot');
  const saying = (...said: ('allow' | 'deny' | undefined)[]) =>
    setOf(
      said.map((one) => ({ scope: { tier: 'global' }, rules: [], ...(one === undefined ? {} : { default: one }) })),
    );

  test.each<[string, ('allow' | 'deny' | undefined)[], 'allow' | 'deny']>([
    ['one that says nothing', [undefined], 'deny'],
    ['one that says deny', ['deny'], 'deny'],
    ['one that says allow', ['allow'], 'allow'],
    ['one that says allow and one that says nothing', ['allow', undefined], 'allow'],
    ['one that says allow and one that says deny', ['allow', 'deny'], 'deny'],
    ['one that says deny and one that says allow', ['deny', 'allow'], 'deny'],
    ['two that say allow', ['allow', 'allow'], 'allow'],
  ])('of %s', (_, said, effect) => {
    expect(evaluate(saying(...said), agent, search)).toMatchObject({ effect, rule: 'default' });
  });

  test('says what was not allowed, with secrets replaced', () => {
    expect(evaluate(saying('deny'), agent, search).reason).toBe(
      'no rule allows tool_call of "search", and the default is deny',
    );
    expect(evaluate(saying('deny'), agent, action('agent_spawn')).reason).toBe(
      'no rule allows agent_spawn, and the default is deny',
    );
    const secret = `ghp_${'a'.repeat(36)}`;
    expect(evaluate(saying('deny'), agent, action('tool_call', { tool: secret })).reason).not.toContain(secret);
  });

  test('that allows says so', () => {
    expect(evaluate(saying('allow'), agent, search)).toMatchObject({ effect: 'allow', reason: 'allowed by default' });
  });

  test('of no document at all: everything is denied', () => {
    expect(evaluate(setOf([]), agent, search)).toMatchObject({
      effect: 'deny',
      rule: 'default',
      reason: 'no policy loaded',
    });
  });

  test('of documents for others only is deny', () => {
    const set = setOf([{ scope: { tier: 'org', orgId: 'umbrella' }, rules: [{ effect: 'allow', globs: {} }] }]);
    expect(evaluate(set, agent, search)).toMatchObject({ effect: 'deny', rule: 'default' });
  });
});

describe('a condition that throws', () => {
  const search = action('tool_call', { tool: 'search' });
  const agent = agentId('acme/search/bot');

  test.each<[Effect, 'matches' | 'does not match']>([
    ['deny', 'matches'],
    ['require_approval', 'matches'],
    ['allow', 'does not match'],
  ])('in a rule with the effect %s: it %s', (effect, outcome) => {
    const set = setOf([{ scope: { tier: 'global' }, rules: [{ effect, globs: {}, when: 'throws' }] }]);
    expect(evaluate(set, agent, search).rule).toBe(outcome === 'matches' ? 'd0/r0' : 'default');
  });

  test('is not asked where the matchers do not hold', () => {
    const set = setOf([
      { scope: { tier: 'global' }, rules: [{ effect: 'deny', globs: { tools: ['other'] }, when: 'throws' }] },
    ]);
    expect(evaluate(set, agent, search).rule).toBe('default');
  });

  test('sees the agent, the action and the time', () => {
    const seen: Facts[] = [];
    const rule: PolicyRule = {
      name: 'r',
      effect: 'allow',
      matchers: {},
      when: (facts) => {
        seen.push(facts);
        return true;
      },
    };
    const set = new PolicySet([{ name: 'd', scope: { tier: 'global' }, rules: [rule] }], 'v1');
    const facts = factsOf(agent, search, null);
    set.evaluate(agent, search, facts);
    expect(seen).toEqual([facts]);
  });
});

describe('the version', () => {
  test('is the same wherever the same sources are loaded, and another where they are not', () => {
    const version = policyVersion(sha256, ['a', 'b']);
    expect(version).toMatch(/^[0-9a-f]{16}$/);
    expect(policyVersion(sha256, ['a', 'b'])).toBe(version);
    for (const other of [['a'], ['b', 'a'], ['ab'], ['a', 'b', ''], ['a', 'c']])
      expect(policyVersion(sha256, other)).not.toBe(version);
  });

  test('of nothing is "none"', () => {
    expect(policyVersion(sha256, [])).toBe('none');
  });
});
