import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePolicies, PolicySet, ToolFacts, userFrom } from '@reeve/core';
import { policyFeatures } from './policy-features.ts';
import { sampleFacts } from './sample-facts.ts';

const tools = ['read', 'read_file', 'write', 'delete_all', 'x'];
const source = 'fs';

/** Conditions that the tool decides, that the call decides, and that either may decide. */
const conditions = [
  'action.tool == "read"',
  'action.source == "fs"',
  'action.type != "tool_call"',
  'action.path == ""',
  'agent.metadata.env == "prod"',
  'agent.metadata.missing == "x"',
  'args.path.startsWith("/tmp")',
  'has(args.path) && args.path == "/tmp/x"',
  '!has(args.path)',
  'args.n > 3.0 || true',
  'args.n > 3.0 && false',
  'true || args.n > 3.0',
  'false && args.n > 3.0',
  'action.tool == "read" || args.n > 3.0',
  'action.tool == "read" && args.n > 3.0',
  'agent.metadata.missing == "x" || args.n == 1.0',
  'agent.metadata.missing == "x" && args.n == 1.0',
  '!(args.n > 3.0 && action.tool == "write")',
  'args.n > 3.0 ? action.tool == "read" : true',
  'cel.bind(n, args.n, action.tool == "read")',
  '[1.0, 2.0].exists(n, n == args.n || action.tool == "x")',
  '["a", "read"].all(t, t != action.tool || args.n > 1.0)',
  '[1.0, 2.0].exists_one(n, n == args.n)',
  'action.cost_usd > 0.5',
  'now > timestamp("2026-07-15T00:00:00Z")',
  'run.checks > 3',
  'run.id == ""',
  'spend.agent.day_usd > 5.0 || spend.org.month_usd < 1.0',
  'action.host == "evil.com"',
  'action.target_url == ""',
  'has(action.host)',
  'has(user.sub)',
  '!has(user.sub) || action.tool == "x"',
  'user.email == "ann@acme.com"',
  '"staff" in user.groups',
  'user.claims.level > 3.0',
];

const globs = fc.constantFrom('read', 'read*', '*', 'write', '*_all', 'none', 'd*');
const hosts = fc.constantFrom('evil.com', '*.com', '**', 'api.*');

type Globs = fc.Arbitrary<string[] | undefined>;
const noUsers: Globs = fc.constant(undefined);

function rule(when: fc.Arbitrary<string | undefined>, hostGlobs: Globs, userGlobs: Globs) {
  return fc.record({
    effect: fc.constantFrom('allow', 'deny', 'require_approval'),
    tools: fc.option(fc.array(globs, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    hosts: hostGlobs,
    users: userGlobs,
    when,
  });
}

function policies(when: fc.Arbitrary<string | undefined>, hostGlobs: Globs, userGlobs: Globs = noUsers) {
  const document = fc.record({
    scope: fc.constantFrom('global', 'global', 'org:acme', 'team:acme/red', 'agent:acme/red/mailer', 'org:umbrella'),
    default: fc.constantFrom('allow', 'deny', undefined),
    mode: fc.constantFrom('enforce', 'enforce', 'observe'),
    rules: fc.array(rule(when, hostGlobs, userGlobs), { maxLength: 4 }),
  });
  return fc.array(document, { minLength: 0, maxLength: 3 }).map((documents) =>
    documents.map(({ scope, default: fallback, rules, mode }, at) => ({
      name: `d${at}`,
      scope,
      mode,
      ...(scope === 'global' && fallback !== undefined ? { default: fallback } : {}),
      rules: rules.map((each, order) => ({ name: `r${order}`, ...each })),
    })),
  );
}

type Written = readonly object[];

/** Each condition is compiled once. */
const compiled = new Map(conditions.map((source) => [source, policyFeatures.compileCondition(source)]));
const features = {
  compileCondition: (source: string) => compiled.get(source) ?? policyFeatures.compileCondition(source),
};

function setOf(documents: Written): PolicySet {
  const text = documents.map((document) => JSON.stringify(document)).join('\n---\n');
  const parsed = parsePolicies(text === '' ? [] : [{ file: 'p.yaml', text }], features);
  expect(parsed.problems).toEqual([]);
  return new PolicySet(parsed.documents, 'v');
}

function deniedBy(set: PolicySet): string[] {
  const { agent, depth } = sampleFacts();
  return tools.filter((tool) => set.deniesEveryCall(agent.id, new ToolFacts(agent, depth, tool, source)));
}

const call = fc.record({
  args: fc.oneof(
    fc.record(
      {
        path: fc.constantFrom('/tmp/x', '/etc', 'a', 7 as unknown as string),
        n: fc.constantFrom(0, 1, 2, 5, 'five' as unknown as number),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom<unknown>([], 'text', null),
  ),
  url: fc.constantFrom('', 'https://evil.com/a', 'https://api.example.com', 'not a url', 'https://%%'),
  costUsd: fc.constantFrom(0, 1),
  now: fc.constantFrom(0, Date.UTC(2026, 6, 15, 12), Date.UTC(2030, 1)),
  checks: fc.constantFrom(0, 9),
  day: fc.constantFrom(0, 10),
  user: fc.constantFrom(null, { email: 'ann@acme.com', groups: ['staff'] }, { sub: 'nobody', claims: { level: 4 } }),
});

function effectOf(set: PolicySet, tool: string, made: typeof call extends fc.Arbitrary<infer Call> ? Call : never) {
  const spend = { day_usd: made.day, month_usd: made.day };
  const facts = sampleFacts(made.args, {
    members: { tool, source, url: made.url },
    costUsd: made.costUsd,
    now: made.now,
    user: () => (made.user === null ? null : userFrom(made.user)),
    run: () => ({ id: made.checks === 0 ? '' : 'run', checks: made.checks, spent_usd: 0, labels: [] }),
    spend: () => ({ global: spend, org: spend, team: spend, agent: spend }),
  });
  return set.evaluate(facts.agent.id, facts.action, facts).effect;
}

test('no call of a tool that is said to be denied is ever allowed or held', () => {
  const when = fc.option(fc.constantFrom(...conditions), { nil: undefined });
  const hostGlobs = fc.option(fc.array(hosts, { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 2 });
  const userGlobs = fc.option(fc.constantFrom<string[]>(['*'], ['ann@*', 'bob@acme.com'], ['nobody']), {
    nil: undefined,
    freq: 2,
  });
  let seen = 0;
  fc.assert(
    fc.property(
      policies(when, hostGlobs, userGlobs),
      fc.array(call, { minLength: 20, maxLength: 20 }),
      (documents, calls) => {
        const set = setOf(documents);
        for (const tool of deniedBy(set)) {
          seen++;
          const other = calls.find((made) => effectOf(set, tool, made) !== 'deny');
          expect(other).toBeUndefined();
        }
      },
    ),
    { numRuns: 600 },
  );
  expect(seen).toBeGreaterThan(200);
});

test('where only tools count, exactly the denied ones are said to be', () => {
  const made = { args: {}, url: '', costUsd: 0, now: 0, checks: 0, day: 0, user: null } as const;
  fc.assert(
    fc.property(policies(fc.constant(undefined), fc.constant(undefined)), (documents) => {
      const set = setOf(documents);
      expect(deniedBy(set)).toEqual(tools.filter((tool) => effectOf(set, tool, made) === 'deny'));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['args.n > 3.0', []],
  ['action.tool == "read"', ['read']],
  ['action.tool == "read" || args.n > 3.0', ['read']],
  ['args.n > 3.0 || action.tool == "read"', ['read']],
  ['action.tool == "read" && args.n > 3.0', []],
  ['agent.metadata.missing == "x"', tools],
  ['agent.metadata.missing == "x" && args.n > 3.0', []],
  ['now > timestamp("2026-01-01T00:00:00Z")', []],
])('a rule that denies when %s denies every call of %j', (when, denied) => {
  const document = { name: 'd', default: 'allow', rules: [{ name: 'r', effect: 'deny', when }] };
  expect(deniedBy(setOf([document]))).toEqual(denied);
});

test.each([
  ['allow', 'args.n > 3.0 && action.tool == "read"', ['read']],
  ['allow', 'args.n > 3.0', tools],
  ['allow', 'agent.metadata.missing == "x"', []],
  ['require_approval', 'agent.metadata.missing == "x"', tools],
  ['require_approval', 'action.cost_usd > 1.0 && action.tool.startsWith("read")', ['read', 'read_file']],
])('with a rule to %s when %s, calls of %j may pass', (effect, when, open) => {
  const set = setOf([{ name: 'd', rules: [{ name: 'r', effect, when }] }]);
  expect(tools.filter((tool) => !deniedBy(set).includes(tool))).toEqual(open);
});

test('a rule by host denies or allows some calls of every tool', () => {
  const rules = (effect: string) => [{ name: 'r', effect, hosts: ['*.com'] }];
  expect(deniedBy(setOf([{ name: 'd', default: 'allow', rules: rules('deny') }]))).toEqual([]);
  expect(deniedBy(setOf([{ name: 'd', rules: rules('allow') }]))).toEqual([]);
});
