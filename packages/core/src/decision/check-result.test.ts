import { beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../action/action.ts';
import { action } from '../action/action.ts';
import { checkAction } from './check-action.ts';
import type { ResultPorts } from './check-result.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { PolicyFeatures, ResultFacts } from '../policy/condition.ts';
import { Evaluation } from '../policy/condition.ts';
import { sweepOps } from '../ops/checkpoint.ts';
import { subjectOf } from '../policy/subject.ts';
import { parsePolicies } from '../policy/parse-policies.ts';
import { PolicySet } from '../policy/policy-set.ts';
import { completeAction, controlOp, delegateAgent, registerOp, suspendAgent } from '../testkit/commands.ts';
import { agentId, checkOf, operator, useTool } from '../testkit/requests.ts';
import { askAbout, resultPorts } from '../testkit/results.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { ticks } from '../testkit/two-gateways.ts';

const spend = (evaluation: Evaluation | undefined, units: number) => {
  evaluation?.charge(units);
  return false;
};

const conditions: Readonly<Record<string, (facts: ResultFacts, evaluation?: Evaluation) => boolean>> = {
  'costs too much inline': (_, evaluation) => spend(evaluation, 1_000_000),
  'costs too much': (_, evaluation) => spend(evaluation, 1_000_000_000),
  'says secret': (facts) => facts.resultText().includes('secret'),
  'args.path is /etc': (facts) => (facts.args() as { path: string }).path === '/etc',
  'the run is tainted': (facts) => facts.run().labels.includes('tainted'),
  'the tool is read': (facts) => facts.action.tool === 'read',
  'the address is example': (facts) => facts.action.url === 'https://example.com/',
  'is empty': (facts) => facts.result() === '',
  fails: () => {
    throw new Error('it fails');
  },
};

const features: PolicyFeatures = {
  compileCondition: () => () => true,
  compileResultCondition: (text) => (facts, evaluation) => conditions[text]?.(facts, evaluation) ?? false,
};

const policy = `
name: p
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [ask] }
  - { name: denies, on: result, effect: deny, tools: [read], when: says secret }
  - { name: path, on: result, effect: deny, tools: [open], when: args.path is /etc }
  - { name: masks, on: result, effect: mask, tools: [read, ask], mask: { detect: [email] } }
  - { name: also, on: result, effect: mask, tools: [read], mask: { fields: [ssn], with: x } }
  - { name: fails-mask, on: result, effect: mask, tools: [frail], when: fails, mask: { fields: [a] } }
  - { name: fails-allow, on: result, effect: allow, tools: [frail], when: fails }
`;

let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await testGovernance({ features });
  await g.policies(policy);
  bot = await g.register(agentId('acme/search/bot'));
});

/** Ends turns until this is answered. */
async function answered<Result>(work: Promise<Result>, of = g): Promise<Result> {
  const watch = { isOver: false };
  const end = () => {
    watch.isOver = true;
  };
  work.then(end, end);
  while (!watch.isOver) {
    await ticks();
    of.turn();
  }
  return work;
}

async function running(tool: string, json = ''): Promise<string> {
  const { opId, decision } = await g.check(bot, { action: { ...useTool(tool), json } });
  expect(decision).toBe('allow');
  return opId;
}

const ask = async (opId: string, result: string, over?: Parameters<typeof askAbout>[4]) => {
  const { result: passed, ...answer } = await answered(askAbout(g, bot, opId, result, over));
  return { ...answer, passed: passed === undefined ? undefined : new TextDecoder().decode(passed) };
};

describe('what rules on results say', () => {
  test('masks add up, and deny beats them', async () => {
    const opId = await running('read');
    expect(await ask(opId, '{"a":"a@b.example","ssn":[1]}')).toMatchObject({
      decision: 'allow',
      policyRule: 'p/masks',
      passed: '{"a":"[masked]","ssn":"x"}',
    });
    const denied = await ask(opId, '{"a":"a@b.example secret"}');
    expect(denied).toMatchObject({ decision: 'deny', policyRule: 'p/denies', passed: undefined });
  });

  test('a condition that fails counts for a mask and not for an allowance', async () => {
    const opId = await running('frail');
    expect(await ask(opId, '{"a":1}')).toMatchObject({ policyRule: 'p/fails-mask', passed: '{"a":"[masked]"}' });
  });

  test('arguments are those of the log, and what it does not have counts as matching', async () => {
    expect(await ask(await running('open', '{"path":"/tmp"}'), '1')).toMatchObject({ decision: 'allow' });
    expect(await ask(await running('open', '{"path":"/etc"}'), '1')).toMatchObject({ decision: 'deny' });
    const long = JSON.stringify({ path: '/tmp', text: 'x'.repeat(20_000) });
    expect(await ask(await running('open', long), '1')).toMatchObject({ decision: 'deny', policyRule: 'p/path' });
  });

  describe('where the log has secrets of the call replaced', () => {
    const secret = 'token=abc123def456';
    const deny = (matcher: string) => `{ name: denies, on: result, effect: deny, ${matcher} }`;

    test.each<[string, Action, string]>([
      ['a path', action('file_operation', { path: `/x/${secret}/../../hr/pay.csv` }), 'paths: [/hr/pay.csv]'],
      ['a tool', action('tool_call', { tool: `read ${secret}` }), 'tools: [read *]'],
      ['a model', action('llm_call', { model: `m ${secret}/x` }), 'models: ["m *x"]'],
      [
        'a command',
        action('process_exec', { command: 'cat', commandArgs: ['--token', '/hr/pay.csv'] }),
        'commands: ["cat * /hr/pay.csv"]',
      ],
      ['a host', action('network_call', { host: `a.example?${secret}` }), 'hosts: [a.example]'],
      ['a URL', action('tool_call', { tool: 'read', url: `https://${secret}@a.example/` }), 'hosts: [a.example]'],
      ['a tool in a condition', action('tool_call', { tool: `read ${secret}` }), 'when: the tool is read'],
      [
        'a URL in a condition',
        action('tool_call', { tool: 'read', url: `https://a.example/?${secret}` }),
        'when: the address is example',
      ],
      [
        'arguments',
        action('tool_call', { tool: 'read', json: JSON.stringify({ path: secret }) }),
        'when: args.path is /etc',
      ],
    ])('%s counts for rules that deny', async (_, call, matcher) => {
      await g.policies(`name: p\ndefault: allow\nrules: [${deny(matcher)}]`);
      const { opId, decision } = await g.check(bot, { action: call });
      expect(decision).toBe('allow');
      expect(await ask(opId, '1')).toMatchObject({ decision: 'deny', policyRule: 'p/denies' });
    });

    test('it counts for masks and labels, and not for an allowance without labels', async () => {
      await g.policies(`
name: p
default: allow
rules:
  - { name: allows, on: result, effect: allow, paths: [/x/**] }
  - { name: labels, on: result, effect: allow, paths: [/hr/pay.csv], labels: [pay] }
  - { name: masks, on: result, effect: mask, paths: [/hr/pay.csv], mask: { detect: [email] } }
`);
      const path = `/x/${secret}/../../hr/pay.csv`;
      const { opId } = await g.check(bot, { action: action('file_operation', { path }) });
      expect(await ask(opId, 'a@b.example')).toMatchObject({
        policyRule: 'p/masks',
        passed: '[masked]',
        labels: ['pay'],
      });
      await g.policies(`name: p\ndefault: allow\nrules: [{ name: allows, on: result, effect: allow, paths: [/x/**] }]`);
      expect(await ask(opId, 'a@b.example')).toMatchObject({ decision: 'allow', policyRule: 'default' });
    });

    test('a host in front of them is known', async () => {
      await g.policies(`name: p\ndefault: allow\nrules: [${deny('hosts: [a.example]')}]`);
      const to = (host: string) => action('tool_call', { tool: 'read', url: `https://${host}/?${secret}` });
      const [here, there] = [
        await g.check(bot, { action: to('a.example') }),
        await g.check(bot, { action: to('b.example') }),
      ];
      expect(await ask(here.opId, '1')).toMatchObject({ decision: 'deny' });
      expect(await ask(there.opId, '1')).toMatchObject({ decision: 'allow' });
    });
  });

  test('where the log does not have the call, nothing passes', async () => {
    const nothing = () => Promise.resolve({ entries: [], next: null });
    const opId = await running('read');
    const answer = await ask(opId, '1', { ports: { log: { latest: nothing, oldest: nothing } } });
    expect(answer).toMatchObject({
      decision: 'deny',
      reason: expect.stringContaining('the log does not have the call'),
    });
  });

  test('however often a call is asked about again, and its results are judged, one entry is read to find it', async () => {
    const action = { ...useTool('open'), json: '{"path":"/etc"}' };
    const { opId } = await g.check(bot, { action });
    const [traceId = '', spanId = ''] = opId.split(':');
    const read: string[] = [];
    const { log } = resultPorts(g);
    const counted: typeof log = {
      latest: async (query) => counting('latest', await log.latest(query)),
      oldest: async (query) => counting('oldest', await log.oldest(query)),
    };
    const counting = <Page extends { readonly entries: readonly unknown[] }>(order: string, page: Page): Page => {
      for (const _ of page.entries) read.push(order);
      return page;
    };
    for (let nth = 0; nth < 5; nth++) {
      await g.check(bot, { action, traceId, spanId });
      expect(await ask(opId, '1', { ports: { log: counted } })).toMatchObject({ policyRule: 'p/path' });
    }
    expect(read).toEqual(Array(5).fill('oldest'));
  });

  test('the call of an earlier operation with the same id, which is forgotten, is not the call', async () => {
    const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
    const asked = (path: string) =>
      g.check(bot, { action: { ...useTool('open'), json: JSON.stringify({ path }) }, traceId, spanId });
    const { opId } = await asked('/tmp');
    await g.complete(bot, opId);
    g.clock.advance(30 * 24 * 3_600_000);
    g.turn();
    sweepOps(g.gov);
    g.turn();
    expect(await asked('/etc')).toMatchObject({ decision: 'allow', opId });
    expect(await ask(opId, '1')).toMatchObject({ policyRule: 'p/path' });
  });

  test('the call of an earlier operation is not the call while the present one is not durable yet', async () => {
    const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
    const asked = (path: string) =>
      checkAction(
        g.gov,
        checkOf({
          agentId: bot.id,
          token: bot.token,
          action: { ...useTool('open'), json: JSON.stringify({ path }) },
          traceId,
          spanId,
        }),
      );
    const { opId } = await answered(asked('/tmp'));
    await g.complete(bot, opId);
    g.clock.advance(30 * 24 * 3_600_000);
    g.turn();
    sweepOps(g.gov);
    g.turn();
    const [checked, judged] = await answered(Promise.all([asked('/etc'), askAbout(g, bot, opId, '1')]));
    expect(checked).toMatchObject({ decision: 'allow', opId });
    expect(judged).toMatchObject({ policyRule: 'p/path' });
  });

  test('a call is found if the clock was set back since its operation was registered', async () => {
    const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
    await answered(registerOp(g.gov, operator, { agent: bot.id, traceId, spanId, summary: '' }));
    g.clock.setWallClock(-60_000);
    const { opId } = await g.check(bot, { action: { ...useTool('open'), json: '{"path":"/etc"}' }, traceId, spanId });
    expect(await ask(opId, '1')).toMatchObject({ decision: 'deny', policyRule: 'p/path' });
  });

  test('a large result that cannot be judged aside does not pass, and says why', async () => {
    const opId = await running('read');
    const judgeAside = () => Promise.reject(new ReeveError('too_expensive', 'it took too long'));
    const answer = await ask(opId, 'x'.repeat(100_000), { ports: { judgeAside } });
    expect(answer).toMatchObject({ decision: 'deny', reason: 'the result could not be judged: it took too long' });
  });

  test('what costs more than it may between decisions is judged aside, and does not pass if it costs too much there', async () => {
    const paths = Array.from({ length: 100 }, (_, at) => `"**.a${at}.*.b"`);
    await g.policies(
      `name: p\ndefault: allow\nrules: [{ name: m, on: result, effect: mask, mask: { fields: [${paths.join()}] } }]`,
    );
    const many = (count: number) => JSON.stringify(Array.from({ length: count }, () => ({ a1: { c: { b: 1 } } })));
    const opId = await running('read');
    expect((await ask(opId, many(100))).passed).toBe(many(100).replaceAll('"b":1', '"b":"[masked]"'));
    const answer = await ask(opId, many(2000));
    expect(answer).toMatchObject({ decision: 'deny', policyRule: 'p/m' });
    expect(answer.reason).toContain('cost more than one decision may');
  });
});

describe('an operation', () => {
  const details = async (opId: string) =>
    (await g.audit()).findLast((entry) => entry.op_id === opId && entry.event_type === 'OpStateChanged')?.payload;

  test('owes a judgement if a rule could match, also after a restart', async () => {
    const first = await g.check(bot, { action: useTool('read') });
    expect(first.judgeResult).toBe(true);
    expect((await g.check(bot, { action: useTool('other') })).judgeResult).toBe(false);
    g = await g.crash();
    await g.complete(bot, first.opId);
    expect(await details(first.opId)).toMatchObject({ result_not_judged: true });
  });

  test('owes nothing once somebody has asked, also after a restart', async () => {
    const opId = await running('read');
    await ask(opId, '1');
    g = await g.crash();
    const [traceId = '', spanId = ''] = opId.split(':');
    expect(await g.check(bot, { traceId, spanId, action: useTool('read') })).toMatchObject({ judgeResult: true });
    expect(await ask(opId, '"a@b.example"')).toMatchObject({ passed: '"[masked]"' });
    await g.complete(bot, opId);
    expect(await details(opId)).not.toHaveProperty('result_not_judged');
  });

  test('that waits for people owes it once it runs, and one that failed does not', async () => {
    const { decision, judgeResult } = await g.check(bot, { action: useTool('ask') });
    expect({ decision, judgeResult }).toEqual({ decision: 'pending', judgeResult: true });
    const opId = await running('read');
    await g.complete(bot, opId, { outcome: 'failed' });
    expect(await details(opId)).not.toHaveProperty('result_not_judged');
  });

  test('that is paused, or whose agent is suspended, does not run', async () => {
    const opId = await running('read');
    const op = g.gov.ops.get(g.known(bot.id), opId);
    await g.settle(controlOp(g.gov, operator, op, 'pause', ''));
    await expect(answered(askAbout(g, bot, opId, '1'))).rejects.toMatchObject({ code: 'invalid_transition' });
    const other = await running('read');
    await g.settle(suspendAgent(g.gov, operator, bot.id, 'an incident'));
    await expect(answered(askAbout(g, bot, other, '1'))).rejects.toMatchObject({ code: 'invalid_transition' });
  });

  test.each([
    ['at once', '1'],
    ['aside', 'x'.repeat(100_000)],
  ])('whose end cannot be kept is not said to have ended where its result is judged %s', async (_, result) => {
    const opId = await running('read');
    const how = { actualCostMicros: null, outcome: 'succeeded', detail: '' } as const;
    const complete = () => {
      const completing = completeAction(g.gov, { agentId: bot.id, token: bot.token, opId, ...how });
      return completing.then(
        () => 'kept',
        () => 'not kept',
      );
    };
    const { log } = resultPorts(g);
    const completed = Promise.withResolvers<string>();
    // It ends while the log is read, and before that.
    const oldest: typeof log.oldest = async (query) => {
      const page = await log.oldest(query);
      g.failure = new Error('the disk is full');
      completed.resolve(complete());
      return page;
    };
    await expect(
      answered(askAbout(g, bot, opId, result, { ports: { log: { ...log, oldest } } })),
    ).rejects.toMatchObject({ code: 'store_unavailable' });
    const again = complete();
    await expect(answered(askAbout(g, bot, opId, result))).rejects.toMatchObject({ code: 'store_unavailable' });
    expect([await completed.promise, await again]).toEqual(['not kept', 'not kept']);
    g.failure = undefined;
    expect(await ask(opId, result)).toMatchObject({ decision: 'allow' });
  });

  test('that ends while its result is judged aside has no result to pass on', async () => {
    const opId = await running('read');
    const judgeAside = async () => {
      await g.complete(bot, opId);
      return { effect: 'allow', reason: '', policyRule: 'p', policyVersion: '', counts: {}, labels: [] } as const;
    };
    const asking = askAbout(g, bot, opId, 'x'.repeat(100_000), { ports: { judgeAside } });
    await expect(answered(asking)).rejects.toMatchObject({ code: 'invalid_transition' });
  });
});

test('of a delegate, the rules on every delegator count, and their masks add up', async () => {
  await g.policies(
    'name: base\ndefault: allow',
    'scope: agent:acme/search/bot\nname: of-bot\nrules: [{name: m, on: result, effect: mask, mask: {fields: [a]}}]',
    'scope: agent:acme/search/child\nname: of-child\nrules: [{name: m, on: result, effect: mask, mask: {fields: [b]}}]',
  );
  const { agentId: id, token } = await g.settle(delegateAgent(g.gov, bot, 'child'));
  const child = { id, token };
  const { opId, judgeResult } = await g.check(child, { action: useTool('read') });
  expect(judgeResult).toBe(true);
  const { result, policyRule } = await answered(askAbout(g, child, opId, '{"a":1,"b":2,"c":3}'));
  expect({ policyRule, text: new TextDecoder().decode(result) }).toEqual({
    policyRule: 'of-child/m',
    text: '{"a":"[masked]","b":"[masked]","c":3}',
  });
});

test('of a delegate, nothing is judged where not all of a delegator could be read', async () => {
  await g.policies('name: base\ndefault: allow\nrules: [{name: m, on: result, effect: mask, mask: {fields: [a]}}]');
  const { agentId: id, token } = await g.settle(delegateAgent(g.gov, bot, 'child'));
  const child = { id, token };
  const { opId } = await g.check(child, { action: useTool('read') });
  g.gov.directory.outOfService.add({ agents: ['acme/search/bot'], orgs: [], everything: false });
  for (const part of ['result', 'prompt'] as const) {
    await expect(answered(askAbout(g, child, opId, '{"a":1}', { request: { part } }))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  }
});

test('rules on results give labels where the result passes, and those of all that fit where nobody asks', async () => {
  await g.policies(`
name: p
default: allow
rules:
  - { name: a, on: result, effect: allow, tools: [read], labels: [seen] }
  - { name: m, on: result, effect: mask, tools: [read], mask: { fields: [x] }, labels: [masked] }
  - { name: d, on: result, effect: deny, tools: [read], when: says secret, labels: [never] }
  - { name: w, on: result, effect: allow, tools: [read], when: says secret, labels: [maybe] }
`);
  const labelsIn = (runId: string) =>
    g.gov.runs.labels
      .in({ agent: bot.id, runId, delegators: [] })
      .map(({ name }) => name)
      .toSorted();
  const inRun = async (runId: string) => (await g.check(bot, { action: useTool('read'), runId })).opId;
  expect((await ask(await inRun('passes'), '{"x":1}')).labels.toSorted()).toEqual(['masked', 'seen']);
  expect(labelsIn('passes')).toEqual(['masked', 'seen']);
  expect(await ask(await inRun('denied'), 'secret')).toMatchObject({ decision: 'deny', labels: [] });
  expect(labelsIn('denied')).toEqual([]);
  await g.complete(bot, await inRun('unjudged'));
  expect(labelsIn('unjudged')).toEqual(expect.arrayContaining(['masked', 'maybe', 'seen']));
});

test('a rule that comes in force while the log is read judges the result', async () => {
  await g.policies('name: p\ndefault: allow\nrules: []');
  const { opId } = await g.check(bot, { action: useTool('read') });
  const { log } = resultPorts(g);
  const ports: Partial<ResultPorts> = {
    log: {
      ...log,
      oldest: async (query) => {
        await g.policies('name: p\ndefault: allow\nrules: [{ name: d, on: result, effect: deny, tools: [read] }]');
        return await log.oldest(query);
      },
    },
  };
  expect(await ask(opId, '1', { ports })).toMatchObject({ decision: 'deny', policyRule: 'p/d' });
});

describe('labels that count if nobody asks about a result', () => {
  const names = (from: number, count: number) => Array.from({ length: count }, (_, at) => `l${from + at}`).join(', ');

  test('must find room when the call is checked, with those that the call gives', async () => {
    await g.policies(`
name: p
default: allow
rules:
  - { name: c, effect: allow, tools: [read, both], labels: [${names(0, 40)}] }
  - { name: r, on: result, effect: allow, tools: [both, alone], labels: [${names(20, 45)}] }
  - { name: s, on: result, effect: allow, tools: [both, few], labels: [${names(0, 20)}] }
`);
    const check = (tool: string, runId: string) => g.check(bot, { action: useTool(tool), runId });
    const tooMany = { decision: 'deny', reason: 'too many labels', policyRule: 'labels', judgeResult: false };
    expect(await check('both', 'fresh')).toMatchObject(tooMany);
    expect(await check('alone', 'other')).toMatchObject({ decision: 'allow', judgeResult: true });
    expect(await check('read', 'r')).toMatchObject({ decision: 'allow' });
    expect(await check('alone', 'r')).toMatchObject(tooMany);
    const few = await check('few', 'r');
    expect(few).toMatchObject({ decision: 'allow' });
    await g.complete(bot, few.opId);
    expect(g.gov.runs.labels.in({ agent: bot.id, runId: 'r', delegators: [] })).toHaveLength(40);
  });
});

describe('a rule on results that allows and gives labels', () => {
  const given = async (call: Action, rule: string) => {
    await g.policies(
      `name: p\ndefault: allow\nrules: [{ name: l, on: result, effect: allow, ${rule}, labels: [seen] }]`,
    );
    const { opId } = await g.check(bot, { action: call, runId: 'r' });
    let aside = 0;
    const { judgeAside } = resultPorts(g);
    const ports: Partial<ResultPorts> = {
      judgeAside: (...given) => {
        aside++;
        return judgeAside(...given);
      },
    };
    const { labels } = await ask(opId, '1', { ports });
    return { labels, aside };
  };

  test('gives them where its condition fails', async () => {
    expect(await given(useTool('read'), 'when: fails')).toEqual({ labels: ['seen'], aside: 0 });
  });

  test('gives them where a host cannot be read', async () => {
    const call = action('network_call', { host: 'a.example\\@b.example' });
    expect(await given(call, 'hosts: [a.example]')).toEqual({ labels: ['seen'], aside: 0 });
  });

  test('is judged aside where it costs more than it may between decisions, and gives them if it does there', async () => {
    expect(await given(useTool('read'), 'when: costs too much inline')).toEqual({ labels: [], aside: 1 });
    expect(await given(useTool('read'), 'when: costs too much')).toEqual({ labels: ['seen'], aside: 1 });
  });
});

test('a label that the run gets while a result is judged aside counts for the result', async () => {
  await g.policies(`
name: p
default: allow
rules:
  - { name: taints, effect: allow, tools: [taint], labels: [tainted] }
  - { name: d, on: result, effect: deny, tools: [read], when: the run is tainted }
`);
  const { opId } = await g.check(bot, { action: useTool('read'), runId: 'r' });
  const { judgeAside } = resultPorts(g);
  let rounds = 0;
  const tainting: typeof judgeAside = async (...asked) => {
    const judged = await judgeAside(...asked);
    if (rounds++ === 0) await g.check(bot, { action: useTool('taint'), runId: 'r' });
    return judged;
  };
  const answer = await ask(opId, 'x'.repeat(100_000), { ports: { judgeAside: tainting } });
  expect({ ...answer, rounds }).toMatchObject({ decision: 'deny', policyRule: 'p/d', rounds: 2 });
});

test('a thousand rules about other tools cost one look-up', () => {
  const rules = Array.from(
    { length: 1000 },
    (_, at) => `  - { name: r${at}, on: result, effect: deny, tools: [tool-${at}] }`,
  );
  const { documents } = parsePolicies([{ file: 'p.yaml', text: `name: p\nrules:\n${rules.join('\n')}` }]);
  const set = new PolicySet(documents, 'v');
  const evaluation = new Evaluation(subjectOf(useTool('another')));
  expect(set.resultRulesFor(bot.id, useTool('another'), evaluation)).toEqual([]);
  expect(evaluation.cost).toBe(0);
});
