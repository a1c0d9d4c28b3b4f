import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyProblem } from '@reeve/core';
import { action, parsePolicies } from '@reeve/core';
import type { TestAgent, TestGovernance } from '@reeve/core/testkit';
import { agentId, sha256, testGovernance } from '@reeve/core/testkit';
import { inexactIn } from '../../evaluation/inexact-in.ts';
import { policyFeatures } from './policy-features.ts';

interface Governed {
  readonly g: TestGovernance;
  readonly bot: TestAgent;
}

async function governed(...policies: string[]): Promise<Governed> {
  const g = await testGovernance({ features: policyFeatures });
  await g.policies(...policies);
  return { g, bot: await g.register(agentId('acme/search/bot')) };
}

/** Checks a call of the tool `t` by somebody who passes rewritten arguments on. */
async function call({ g, bot }: Governed, json: string, members: { canRewrite?: boolean; spanId?: string } = {}) {
  const { canRewrite = true, spanId = 's' } = members;
  const asked = action('tool_call', { tool: 't', json });
  return await g.check(bot, { traceId: 't', spanId, action: asked, canRewrite, inexact: inexactIn(asked) });
}

/** What a rule with this `rewrite` makes of arguments, as text. Undefined if nothing. */
async function rewritten(rewrite: Record<string, string>, json: string): Promise<string | undefined> {
  const rules = [{ name: 'r', effect: 'allow', tools: ['t'], rewrite }];
  const answer = await call(await governed(JSON.stringify({ name: 'p', rules })), json);
  expect(answer.decision).toBe('allow');
  return answer.argsJson;
}

async function refused(rewrite: Record<string, string>, json: string): Promise<string> {
  const rules = [{ name: 'r', effect: 'allow', tools: ['t'], rewrite }];
  const answer = await call(await governed(JSON.stringify({ name: 'p', rules })), json);
  expect(answer).toMatchObject({ decision: 'deny', policyRule: 'p/r', argsJson: undefined, opState: 'terminated' });
  return answer.reason;
}

describe('what a rule sets', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['a member', { limit: '10' }, '{"limit":99}', '{"limit":10}'],
    ['a member that is missing', { limit: '10' }, '{}', '{"limit":10}'],
    ['a member where there are no arguments', { limit: '10' }, '', '{"limit":10}'],
    ['a member of members that are missing', { 'a.b.c': 'true' }, '{"x":1}', '{"x":1,"a":{"b":{"c":true}}}'],
    ['a member of a member', { 'a.b': 'null' }, '{"a":{"b":1,"c":2}}', '{"a":{"b":null,"c":2}}'],
    ['a name with dots', { '"a.b".c': '1' }, '{"a.b":{}}', '{"a.b":{"c":1}}'],
    ['a name with a star', { '"*"': '1' }, '{}', '{"*":1}'],
    ['a text of a text', { q: 'args.q + " site:acme.com"' }, '{"q":"x"}', '{"q":"x site:acme.com"}'],
    ['a list', { l: 'args.l.filter(x, x < 3.0)' }, '{"l":[1,2,3]}', '{"l":[1,2]}'],
    ['a map', { m: '{"a": [1, {"b": null}]}' }, '{}', '{"m":{"a":[1,{"b":null}]}}'],
    ['a double', { d: '0.1 + 0.2' }, '{}', '{"d":0.30000000000000004}'],
    ['a whole double', { d: '2.0' }, '{}', '{"d":2}'],
    ['a part of a time', { t: 'timestamp("2026-01-02T03:04:05Z").getHours()' }, '{}', '{"t":3}'],
    ['a member where the arguments are null', { limit: '10' }, 'null', '{"limit":10}'],
    ['all of the arguments in a member', { copy: 'args' }, '{"a":1}', '{"a":1,"copy":{"a":1}}'],
    ['__proto__', { '__proto__.x': '1' }, '{}', '{"__proto__":{"x":1}}'],
    ['constructor', { 'constructor.prototype': '1' }, '{}', '{"constructor":{"prototype":1}}'],
    ['a member of a sent __proto__', { '__proto__.y': '2' }, '{"__proto__":{"x":1}}', '{"__proto__":{"x":1,"y":2}}'],
    ['toString', { toString: 'has(args.toString) ? 1 : 2' }, '{}', '{"toString":2}'],
  ])('%s', async (_, rewrite, json, after) => {
    expect(await rewritten(rewrite, json)).toBe(after);
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });

  test('all other members stay as they were sent, to the last digit', async () => {
    const sent = '{ "id": 12345678901234567890 , "x":[1.0, 1e2,"\\u0061"], "limit" : 5,"n":-0.0}';
    const kept = '{"id":12345678901234567890,"x":[1.0, 1e2,"\\u0061"],"limit":1,"n":-0.0}';
    expect(await rewritten({ limit: '1' }, sent)).toBe(kept);
  });

  test('a number that no double holds keeps its digits where it is moved, and cannot be looked at', async () => {
    expect(await rewritten({ b: '[args]' }, '{"a":{"n":12345678901234567890}}')).toBe(
      '{"a":{"n":12345678901234567890},"b":[{"a":{"n":12345678901234567890}}]}',
    );
    expect(await refused({ b: 'args.n' }, '{"n":12345678901234567890}')).toContain('more digits than can be judged');
  });

  test('of a name that comes twice, none is left that was not judged', async () => {
    expect(await rewritten({ to: '"ann"' }, '{"to":"eve","x":1,"to":"eve"}')).toBe('{"to":"ann","x":1}');
    expect(await rewritten({ 'a.to': '"ann"' }, '{"a":{"to":"eve","to":"bob"},"a":{"to":"eve","to":"joe"}}')).toBe(
      '{"a":{"to":"ann"}}',
    );
  });

  test('nothing, if it is set to what it is', async () => {
    expect(await rewritten({ limit: 'args.limit > 10.0 ? 10.0 : args.limit' }, '{"limit":5.0}')).toBeUndefined();
    expect(await rewritten({ m: '{"b": 2, "a": [1]}' }, '{"m":{"a":[1],"b":2}}')).toBeUndefined();
    expect(await rewritten({ x: '1', '"x"': 'args.y' }, '{"x":7,"y":7}')).toBeUndefined();
  });
});

describe('a rewriting is refused', () => {
  test.each<[string, Record<string, string>, string, string]>([
    ['through a list', { 'l.0': '1' }, '{"l":[2]}', 'rule p/r rewrites "l.0", which failed: "l" is no object'],
    ['through a text', { 'a.b.c': '1' }, '{"a":{"b":"x"}}', '"a.b" is no object'],
    ['through null', { 'a.b': '1' }, '{"a":null}', '"a" is no object'],
    ['through a number that no double holds', { 'a.b': '1' }, '{"a":12345678901234567890}', '"a" is no object'],
    ['of a list', { a: '1' }, '[1]', 'the arguments are no object'],
    ['by a member that is missing', { a: 'args.b' }, '{}', 'there is no member "b"'],
    ['by a large int', { a: '9007199254740993' }, '{}', 'more digits than readers of JSON agree on'],
    ['by a number without end', { a: '1e308 * 10.0' }, '{}', 'no finite number'],
    ['by a time', { a: 'dyn(now)' }, '{}', 'JSON has no value for a timestamp'],
    ['by a map of numbers', { a: '{1: 2}' }, '{}', 'the names of members are texts'],
    ['by what costs too much', { a: '[args, args, args].map(x, args.l)' }, `{"l":[${'1,'.repeat(30_000)}1]}`, 'cost'],
  ])('%s', async (_, rewrite, json, why) => {
    expect(await refused(rewrite, json)).toContain(why);
  });

  test('if it nests deeper than arguments may be', async () => {
    const deep = `{"a":${'['.repeat(62)}${']'.repeat(62)}}`;
    expect(await rewritten({ 'x.y': 'args.a' }, deep)).toBeDefined();
    expect(await refused({ 'x.y.z': 'args.a' }, deep)).toContain('nested deeper than 64');
  });

  test('by arguments that double with each rule', async () => {
    const rules = Array.from({ length: 40 }, (_, at) => ({
      name: `r${at}`,
      effect: 'allow',
      rewrite: { [`m${at}`]: '[args, args]' },
    }));
    const answer = await call(await governed(JSON.stringify({ name: 'p', rules })), '{"x":1}');
    expect(answer.decision).toBe('deny');
    expect(answer.argsJson).toBeUndefined();
  });
});

const cap = `
name: p
rules:
  - { name: cap, effect: allow, tools: [t], rewrite: { limit: 'args.limit > 10.0 ? 10.0 : args.limit' } }
  - { name: tag, effect: allow, actions: [tool_call], when: args.limit > 5.0, rewrite: { by: 'args.limit == 10.0 ? "cap" : "none"' } }
  - { name: never, effect: deny, when: has(args.by) && args.by == "none" }
  - { name: ask, effect: require_approval, when: has(args.mode) && args.mode == "ask" }
`;

describe('a rule that rewrites and cannot be judged', () => {
  const beside = (rule: object) =>
    JSON.stringify({
      name: 'p',
      rules: [
        { name: 'r', effect: 'allow', tools: ['t'], rewrite: { limit: '100' }, ...rule },
        { name: 'all', effect: 'allow', tools: ['t'] },
      ],
    });

  test.each([
    ['a member of another type', '{"limit":"1000000"}'],
    ['a member that is missing', '{}'],
  ])('refuses the call that another rule allows: %s', async (_, json) => {
    const answer = await call(await governed(beside({ when: 'args.limit > 100.0' })), json);
    expect(answer).toMatchObject({ decision: 'deny', policyRule: 'p/r', argsJson: undefined });
    expect(answer.reason).toMatch(/^rule p\/r rewrites, and whether it is about this call cannot be judged: ./);
  });

  test('refuses it where nobody can read the host', async () => {
    const { g, bot } = await governed(beside({ hosts: ['api.example'] }));
    const asked = (url: string) => action('tool_call', { tool: 't', json: '{}', url });
    const check = (url: string, spanId: string) =>
      g.check(bot, { traceId: 't', spanId, action: asked(url), canRewrite: true });
    expect(await check('https://other.example/', 'a')).toMatchObject({ decision: 'allow', argsJson: undefined });
    expect(await check('https://api.example/', 'b')).toMatchObject({ decision: 'allow', argsJson: '{"limit":100}' });
    expect(await check('https://[api.example/', 'c')).toMatchObject({ decision: 'deny', policyRule: 'p/r' });
  });

  test('changes nothing where it can', async () => {
    const rules = beside({ when: 'has(args.limit) && args.limit > 100.0' });
    expect(await call(await governed(rules), '{"limit":5}')).toMatchObject({ decision: 'allow', argsJson: undefined });
    expect(await call(await governed(rules), '{"limit":500}')).toMatchObject({ argsJson: '{"limit":100}' });
  });
});

test('every matching rule rewrites, in order, and sees what those before have left', async () => {
  const bots = await governed(cap);
  expect(await call(bots, '{"limit":50}')).toMatchObject({
    decision: 'allow',
    policyRule: 'p/cap',
    argsJson: '{"limit":10,"by":"cap"}',
  });
});

test('the rewritten call is judged once more, and the refusal says so', async () => {
  const answer = await call(await governed(cap), '{"limit":7}');
  expect(answer).toMatchObject({ decision: 'deny', policyRule: 'p/never', argsJson: undefined });
  expect(answer.reason).toMatch(/^with its arguments rewritten: denied by rule p\/never/);
});

test('a rewritten call that rules ask about waits, and whoever decides sees what it became', async () => {
  const policy = `
name: p
rules:
  - { name: r, effect: allow, rewrite: { amount: '100', mode: '"safe"' } }
  - { name: ask, effect: require_approval, when: args.amount >= 100.0 }
`;
  const { g, bot } = await governed(policy);
  const answer = await call({ g, bot }, '{"amount":5}');
  expect(answer).toMatchObject({ decision: 'pending', policyRule: 'p/ask', argsJson: '{"amount":100,"mode":"safe"}' });
  const approval = g.gov.approvals.find(answer.approvalId);
  expect(JSON.parse(approval?.action ?? '')).toMatchObject({ args: { amount: 100, mode: 'safe' } });
  const op = g.gov.ops.get(g.known(bot.id), 't:s');
  expect(op.rewrite).toMatchObject({ changes: '[[["amount"],100],[["mode"],"safe"]]', digest: approval?.digest });
  expect(op.digest).not.toBe(approval?.digest);
});

test('what people are asked of the call as it was sent, they are asked of the rewritten one', async () => {
  const policy = `
name: p
rules:
  - { name: r, effect: allow, rewrite: { amount: '1' } }
  - { name: ask, effect: require_approval, when: args.amount >= 100.0 }
`;
  expect(await call(await governed(policy), '{"amount":500}')).toMatchObject({
    decision: 'pending',
    argsJson: '{"amount":1}',
  });
});

test('a caller that cannot pass it on is refused, unless nothing changes', async () => {
  const bots = await governed(cap);
  expect(await call(bots, '{"limit":3}', { canRewrite: false })).toMatchObject({ decision: 'allow' });
  expect(await call(bots, '{"limit":50}', { canRewrite: false, spanId: 's2' })).toMatchObject({
    decision: 'deny',
    reason: 'must be rewritten, which this caller cannot do',
    policyRule: 'p/cap',
    argsJson: undefined,
  });
});

test('the entry has what was sent, what it became with secrets replaced, and both digests', async () => {
  const { g, bot } = await governed(
    'name: p\nrules: [{ name: r, effect: allow, rewrite: { password: \'"hun" + "ter22hunting"\', limit: "1" } }]',
  );
  const json = '{"limit":5}';
  const answer = await call({ g, bot }, json);
  const after = '{"limit":1,"password":"hunter22hunting"}';
  expect(answer.argsJson).toBe(after);
  const entry = (await g.audit()).at(-1);
  expect(entry?.payload).toMatchObject({
    action: { args: { limit: 5 } },
    args_sha256: sha256(json),
    rewritten_args: { limit: 1, password: '[redacted]' },
    rewritten_args_sha256: sha256(after),
  });
  expect(JSON.stringify(g.commits)).not.toContain('hunter22');
});

describe('a replay', () => {
  const plain = 'name: p\nrules: [{ name: r, effect: allow, rewrite: { limit: "1", at: now.getSeconds() } }]';

  test('gets the arguments of the first answer, whatever policies say by then, also after a restart', async () => {
    const { g, bot } = await governed(plain);
    const first = await call({ g, bot }, '{"n":12345678901234567890,"limit":5}');
    expect(first.argsJson).toContain('"n":12345678901234567890,"limit":1');
    g.clock.advance(5000);
    await g.policies('name: p\ndefault: deny');
    for (const restart of [() => g, () => g.crash()]) {
      const again = await call({ g: await restart(), bot }, '{"n":12345678901234567890,"limit":5}');
      expect(again).toMatchObject({ decision: 'allow', argsJson: first.argsJson, tier: 'replay' });
    }
  });

  test('by a caller that cannot pass them on is refused, and the operation goes on', async () => {
    const bots = await governed(plain);
    await call(bots, '{"limit":5}');
    expect(await call(bots, '{"limit":5}', { canRewrite: false })).toMatchObject({
      decision: 'deny',
      reason: 'must be rewritten, which this caller cannot do',
      opState: 'running',
    });
    expect(await call(bots, '{"limit":5}')).toMatchObject({ decision: 'allow' });
  });

  test('of secrets is answered where they were decided, and refused after a restart', async () => {
    const { g, bot } = await governed('name: p\nrules: [{ effect: allow, rewrite: { token: \'"abc" + "defgh1"\' } }]');
    const first = await call({ g, bot }, '{}');
    expect(first.argsJson).toBe('{"token":"abcdefgh1"}');
    expect(await call({ g, bot }, '{}')).toMatchObject({ decision: 'allow', argsJson: first.argsJson });
    expect(JSON.stringify(g.commits)).not.toContain('abcdefgh1');
    const again = await call({ g: await g.crash(), bot }, '{}');
    expect(again).toMatchObject({ decision: 'deny', argsJson: undefined, opState: 'running' });
    expect(again.reason).toContain('not known here');
  });

  test('of more than a fact may hold is answered where it was decided', async () => {
    const { g, bot } = await governed('name: p\nrules: [{ effect: allow, rewrite: { b: args.a + args.a } }]');
    const json = JSON.stringify({ a: 'x '.repeat(5000) });
    const first = await call({ g, bot }, json);
    expect(g.gov.ops.get(g.known(bot.id), 't:s').rewrite?.changes).toBeNull();
    expect(await call({ g, bot }, json)).toMatchObject({ decision: 'allow', argsJson: first.argsJson });
    expect(await call({ g: await g.crash(), bot }, json)).toMatchObject({ decision: 'deny' });
  });

  test('of a call that ended is refused without arguments', async () => {
    const { g, bot } = await governed(plain);
    await call({ g, bot }, '{"limit":5}');
    await g.complete(bot, 't:s');
    expect(await call({ g, bot }, '{"limit":5}')).toMatchObject({ decision: 'deny', argsJson: undefined });
  });
});

test('rules of documents about the org come in the order of all documents, and others do not rewrite', async () => {
  const bots = await governed(
    'name: two\nscope: org:acme\nrules: [{ effect: allow, rewrite: { x: \'args.x + "2"\' } }]',
    'name: one\nrules: [{ effect: allow, rewrite: { x: \'args.x + "1"\' } }]',
    'name: other\nscope: org:umbrella\nrules: [{ effect: allow, rewrite: { x: \'"other"\' } }]',
    'name: seen\nmode: observe\nrules: [{ effect: allow, rewrite: { x: \'"seen"\' } }]',
    'name: three\nscope: agent:acme/search/bot\nrules: [{ effect: allow, rewrite: { x: \'args.x + "3"\' } }]',
  );
  expect((await call(bots, '{"x":"0"}')).argsJson).toBe('{"x":"0213"}');
});

test('labels are those of the rules that match the rewritten call', async () => {
  const { g, bot } = await governed(`
name: p
rules:
  - { name: r, effect: allow, rewrite: { to: '"inside"' } }
  - { name: sent, effect: allow, when: args.to == "outside", labels: [sent] }
  - { name: became, effect: allow, when: args.to == "inside", labels: [became] }
`);
  expect(await call({ g, bot }, '{"to":"outside"}')).toMatchObject({ decision: 'allow' });
  const given = g.gov.runs.labels.in({ agent: bot.id, runId: '', delegators: [] });
  expect(given.map(({ name }) => name)).toEqual(['became']);
});

test('what is no tool call is never rewritten', async () => {
  const { g, bot } = await governed('name: p\nrules: [{ effect: allow, tools: [t], rewrite: { x: "1" } }]');
  const result = action('tool_result', { tool: 't', json: '{"x":5}' });
  const answer = await g.check(bot, { action: result, canRewrite: true });
  expect(answer).toMatchObject({ decision: 'allow', argsJson: undefined });
});

test('whatever rules make of a call, what leaves is what all rules that deny have let pass', async () => {
  const values = fc.constantFrom('1', '2', '3', 'args.x + 1.0', 'args.y', 'args.x > 1.0 ? 9 : 1');
  const rule = fc.record({
    path: fc.constantFrom('x', 'y', 'x.z'),
    value: values,
    min: fc.integer({ min: 0, max: 3 }),
  });
  const denied = fc.integer({ min: 0, max: 10 });
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 4 }), denied, fc.integer({ min: 0, max: 4 }), async (rules, no, x) => {
      const policy = {
        name: 'p',
        default: 'allow',
        rules: [
          ...rules.map(({ path, value, min }, at) => {
            return { name: `r${at}`, effect: 'allow', when: `args.x >= ${min}.0`, rewrite: { [path]: value } };
          }),
          { name: 'no', effect: 'deny', when: `args.x == ${no}.0` },
        ],
      };
      const { g, bot } = await governed(JSON.stringify(policy));
      const sent = { x, y: 3 };
      const answer = await call({ g, bot }, JSON.stringify(sent));
      // The same, in plain code.
      let expected: { x: unknown; y: unknown } | undefined = sent;
      for (const { path, value, min } of rules) {
        if (expected === undefined || x < min) continue;
        expected = modelOf(expected, path, value);
      }
      const isDenied = x === no || expected === undefined || expected.x === no;
      expect(answer.decision).toBe(isDenied ? 'deny' : 'allow');
      if (!isDenied) expect(JSON.parse(answer.argsJson ?? JSON.stringify(sent))).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

function modelOf(args: { x: unknown; y: unknown }, path: string, value: string) {
  const { x, y } = args;
  // A deny rule never compares anything but numbers here: "x.z" needs an object, and there is none.
  if (path === 'x.z') return undefined;
  if (typeof x !== 'number' && value !== 'args.y' && value.includes('args')) return undefined;
  const made =
    value === 'args.y'
      ? y
      : value === 'args.x + 1.0'
        ? Number(x) + 1
        : value.includes('?')
          ? Number(x) > 1
            ? 9
            : 1
          : Number(value);
  return { ...args, [path]: made };
}

describe('a policy with a rewriting', () => {
  const problemsOf = (rule: string): readonly PolicyProblem[] =>
    parsePolicies([{ file: 'p.yaml', text: `rules:\n  - ${rule}\n` }], policyFeatures).problems;

  test.each([
    ['of another effect', "{ effect: deny, rewrite: { x: '1' } }", 21, 'belongs to rules with the effect "allow" only'],
    [
      'about another action',
      "{ effect: allow, actions: [llm_call], rewrite: { x: '1' } }",
      43,
      '"rewrite" is for tool calls',
    ],
    [
      'about another action, too',
      "{ effect: allow, actions: [tool_call, tool_result], rewrite: { x: '1' } }",
      57,
      'must be [tool_call]',
    ],
    ['that matches no tool call', "{ effect: allow, models: [m], rewrite: { x: '1' } }", 35, 'this rule matches none'],
    ['of nothing', '{ effect: allow, rewrite: {} }', 22, 'must name a member'],
    ['that is no mapping', '{ effect: allow, rewrite: [x] }', 31, 'must be a mapping'],
    ['of an empty name', "{ effect: allow, rewrite: { a..b: '1' } }", 35, 'a name is missing'],
    ['of many members', "{ effect: allow, rewrite: { a.*: '1' } }", 33, 'it names one member'],
    ['with the path of another language', "{ effect: allow, rewrite: { $.a: '1' } }", 33, 'a name is missing'],
    ['by a number', '{ effect: allow, rewrite: { x: 1 } }', 36, 'must be a text'],
    ['by no expression', "{ effect: allow, rewrite: { x: '1 +' } }", 40, 'bad value of "x"'],
    ['by an unknown name', '{ effect: allow, rewrite: { x: foo } }', 36, 'unknown variable "foo"'],
    ['by a time', '{ effect: allow, rewrite: { x: now } }', 36, 'JSON has no value of type timestamp'],
    ['by a type', '{ effect: allow, rewrite: { x: type(args.x) } }', 36, 'JSON has no value of type'],
  ])('%s is told with its place', (_, rule, column, message) => {
    const [first] = problemsOf(rule);
    expect(first).toMatchObject({ file: 'p.yaml', line: 2, column });
    expect(first?.message).toContain(message);
  });

  test('has at most 16 members, each at most 16 names deep', () => {
    const members = (count: number) => Array.from({ length: count }, (_, at) => `m${at}: '1'`).join(', ');
    expect(problemsOf(`{ effect: allow, rewrite: { ${members(16)} } }`)).toEqual([]);
    expect(problemsOf(`{ effect: allow, rewrite: { ${members(17)} } }`)[0]?.message).toContain('at most 16 members');
    const path = (names: number) => Array.from({ length: names }, () => 'a').join('.');
    expect(problemsOf(`{ effect: allow, rewrite: { ${path(16)}: '1' } }`)).toEqual([]);
    expect(problemsOf(`{ effect: allow, rewrite: { ${path(17)}: '1' } }`)[0]?.message).toContain('at most 16 names');
  });

  test('of a tenant does not read what others spend', () => {
    const text = 'rules: [{ effect: allow, rewrite: { x: spend.global.day_usd } }]';
    const { problems } = parsePolicies([{ file: 'p.yaml', text, author: 'org' }], policyFeatures);
    expect(problems[0]?.message).toContain('spend.global');
    expect(parsePolicies([{ file: 'p.yaml', text }], policyFeatures).problems).toEqual([]);
  });
});
