import { ActionType } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { durableStores } from '../harness/stores.ts';

type Simulation = RouteOutput<Routes['simulatePolicy']>;
type Explanation = RouteOutput<Routes['explainDecision']>;

interface Refusal {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly Record<string, unknown>[];
  readonly candidates?: readonly string[];
}

const house = `
name: house
rules:
  - {name: read, effect: allow, tools: ["docs.*", search]}
  - {name: small-transfers, effect: allow, tools: [transfer], when: "args.amount <= 100.0"}
  - {name: no-nights, effect: deny, tools: [transfer], when: "args.purpose == 'none'"}
  - {name: pages, effect: allow, tools: [fetch], hosts: ["*.example.com"]}
  - {name: models, effect: allow, models: ["gpt-*"]}
  - {name: files, effect: allow, paths: ["/data/**"]}
  - {name: net, effect: allow, actions: [network_call], hosts: [api.example.com]}
  - {name: listing, effect: allow, commands: ["ls *"]}
  - {name: results, effect: allow, actions: [tool_result], tools: [crawl]}
  - {name: big, effect: require_approval, tools: [wire]}
budget: {org_daily_limit_usd: 1}
pricing:
  gpt-*: {input_per_mtok_usd: 10, output_per_mtok_usd: 30}
---
name: acme
scope: org:acme
rules:
  - {name: no-secrets, effect: deny, tools: ["docs.secret"]}
---
name: globex
scope: org:globex
rules:
  - {name: everything, effect: allow, tools: ["globex-only-*"]}
---
name: trial
mode: observe
rules:
  - {name: stop-search, effect: deny, tools: [search]}
`;

const agent = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };

/** A simulated check of a tool, with other members on request. */
async function simulate(gateway: TestGateway, members: object = {}, bearer = bootstrapKey): Promise<Simulation> {
  const body = { agent, action_type: 'tool_call', context: { tool_name: 'search' }, ...members };
  const answer = await gateway.api.post<Simulation>('/api/v1/policies/simulate', bearer, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function refusedSimulation(gateway: TestGateway, members: object, bearer = bootstrapKey) {
  const body = { agent, action_type: 'tool_call', context: { tool_name: 'search' }, ...members };
  return await gateway.api.post<Refusal>('/api/v1/policies/simulate', bearer, body);
}

async function explain(gateway: TestGateway, id: string, bearer = bootstrapKey): Promise<Explanation> {
  const answer = await gateway.api.get<Explanation>(`/api/v1/decisions/${encodeURIComponent(id)}/explain`, bearer);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

function unexplained(gateway: TestGateway, id: string, bearer = bootstrapKey) {
  return gateway.api.get<Refusal>(`/api/v1/decisions/${encodeURIComponent(id)}/explain`, bearer);
}

function ruleOf({ rules }: { readonly rules: Explanation['rules'] }, id: string) {
  return rules.find(({ document, rule }) => `${document}/${rule}` === id);
}

describe('a simulation', () => {
  let gateway: TestGateway;
  let acme: string;
  beforeAll(async () => {
    gateway = await TestGateway.start({ policies: { 'house.yaml': house } });
    acme = (await makeKey(gateway, { org_id: 'acme' })).key;
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const base64 = Buffer.from('{"amount": 5, "purpose": "rent"}').toString('base64');
  const args = { amount: 5, purpose: 'rent' };
  const transfer = { tool_name: 'transfer', args_json: '{"amount": 5, "purpose": "rent"}' };

  test.each([
    ['a tool under its kind', 'tool_call', { tool_call: transfer }, 'house/small-transfers'],
    ['a tool, bare', 'tool_call', transfer, 'house/small-transfers'],
    ['in upper case', 'TOOL_CALL', { tool_call: transfer }, 'house/small-transfers'],
    ['in camel case', 'Tool_Call', { toolCall: { toolName: 'transfer', argsJson: args } }, 'house/small-transfers'],
    ['arguments as an object', 'tool_call', { ...transfer, args_json: args }, 'house/small-transfers'],
    ['arguments in Base64', 'tool_call', { ...transfer, args_json: base64 }, 'house/small-transfers'],
    ['arguments as args', 'tool_call', { tool: 'transfer', args }, 'house/small-transfers'],
    ['a URL', 'tool_call', { tool_name: 'fetch', target_url: 'https://www.EXAMPLE.com/x' }, 'house/pages'],
    ['a model', 'llm_call', { llm_call: { model: 'gpt-5' } }, 'house/models'],
    ['a file as gRPC has it', 'file_operation', { file_op: { operation: 'read', path: '/data/a/b' } }, 'house/files'],
    ['a file under its kind', 'FILE_OPERATION', { file_operation: { path: '/data/a' } }, 'house/files'],
    ['a file, bare', 'file_operation', { path: '/data/../data/x' }, 'house/files'],
    ['a host', 'network_call', { network_call: { host: 'API.example.com', port: 443 } }, 'house/net'],
    ['a command', 'process_exec', { process_exec: { command: 'ls', args: ['-l'] } }, 'house/listing'],
    ['a spawn', 'agent_spawn', { process_exec: { command: 'ls', args: ['x'] } }, 'house/listing'],
    ['a result', 'tool_result', { tool_result: { tool_name: 'crawl', result_json: '[1]' } }, 'house/results'],
  ])('takes %s', async (_, action_type, context, rule) => {
    expect(await simulate(gateway, { action_type, context })).toMatchObject({ decision: 'allow', policy_rule: rule });
  });

  test.each([
    ['an action that does not exist', { action_type: 'dance' }, '/action_type'],
    ['the context of another action', { action_type: 'llm_call', context: { tool_call: {} } }, '/context'],
    ['a member that does not exist', { context: { tol_name: 'x' } }, '/context/tol_name'],
    ['a kind that is no object', { context: { tool_call: 'x' } }, '/context/tool_call'],
    ['a member of the wrong type', { context: { tool_name: 7 } }, '/context/tool_name'],
    ['a member under two names', { context: { tool: 'a', tool_name: 'b' } }, '/context/tool_name'],
    ['arguments that are no JSON', { context: { tool_name: 'x', args_json: '{oops' } }, '/context/args_json'],
    ['a port out of range', { action_type: 'network_call', context: { port: 70_000 } }, '/context/network_call/port'],
  ])('refuses %s with its place', async (_, members, pointer) => {
    const { status, body } = await refusedSimulation(gateway, members);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ pointer }]);
  });

  test('says which actions there are, rather than how they are recognised', async () => {
    const { body } = await refusedSimulation(gateway, { action_type: 'dance' });
    expect(body.detail).toMatch(/^\/action_type: must be one of llm_call, tool_call, .*, tool_result$/);
  });

  test('tells of every rule why it did or did not match', async () => {
    const found = await simulate(gateway, { context: { tool_name: 'transfer', args: { amount: 500 } } });
    expect(found).toMatchObject({ decision: 'deny', policy_rule: 'house/no-nights' });
    expect(found.reason).toMatch(/^denied by rule house\/no-nights; allowed here unless denied: tool_call of docs\.\*/);
    const why = Object.fromEntries(found.rules.map(({ document, rule, ...rest }) => [`${document}/${rule}`, rest]));
    expect(Object.keys(why)).not.toContain('globex/everything');
    expect(why['house/read']).toEqual({
      effect: 'allow',
      matched: false,
      why: 'the tool "transfer" matches none of docs.*, search',
      observed: false,
    });
    expect(why['house/small-transfers']?.why).toBe('its condition does not hold: args.amount <= 100.0');
    expect(why['house/no-nights']).toMatchObject({
      matched: true,
      why: expect.stringMatching(
        /^the tool "transfer" matches transfer; its condition failed \(.*purpose.*\), and for deny that counts as matching/,
      ) as string,
    });
    expect(why['house/pages']?.why).toBe('the tool "transfer" matches none of fetch');
    expect(why['house/models']?.why).toBe('it asks for a model, and this tool_call names none');
    expect(why['house/net']?.why).toBe('it is about network_call, and this is a tool_call');
    expect(why['trial/stop-search']).toMatchObject({ matched: false, observed: true });
  });

  test('does not let an observed document decide, and tells what it would have done', async () => {
    const found = await simulate(gateway);
    expect(found).toMatchObject({ decision: 'allow', policy_rule: 'house/read' });
    expect(ruleOf(found, 'trial/stop-search')).toMatchObject({ matched: true, observed: true });
  });

  test('answers pending where approval is asked for, and requests none', async () => {
    expect(await simulate(gateway, { context: { tool_name: 'wire' } })).toMatchObject({
      decision: 'pending',
      policy_rule: 'house/big',
    });
    const approvals = await gateway.api.get<{ total: number }>('/api/v1/approvals', bootstrapKey);
    expect(approvals.body.total).toBe(0);
  });

  test('judges a candidate alone, and nothing else', async () => {
    const candidate = 'name: next\nrules:\n  - {name: only-mail, effect: allow, tools: [mail]}\n';
    const found = await simulate(gateway, { candidate });
    expect(found).toMatchObject({ decision: 'deny', policy_rule: 'default' });
    expect(found.reason).toBe(
      'no rule allows tool_call of "search", and the default is deny; allowed here: tool_call of mail',
    );
    expect(found.rules.map(({ document, rule }) => `${document}/${rule}`)).toEqual(['next/only-mail']);
    expect(found.policy_version).not.toBe((await simulate(gateway)).policy_version);
  });

  test('judges a candidate together with what is in force, in place of what has its name', async () => {
    const candidate =
      'name: acme\nscope: org:acme\nrules:\n  - {name: no-search, effect: deny, tools: [search], when: "agent.depth == 0"}\n';
    const found = await simulate(gateway, { candidate, merge: true });
    expect(found).toMatchObject({ decision: 'deny', policy_rule: 'acme/no-search' });
    expect(ruleOf(found, 'house/read')?.matched).toBe(true);
    expect(ruleOf(found, 'acme/no-secrets')).toBeUndefined();
    const other = { ...agent, org_id: 'globex' };
    expect((await simulate(gateway, { candidate, merge: true, agent: other })).decision).toBe('allow');
  });

  test('refuses a candidate with errors, with their places', async () => {
    const candidate =
      'name: next\nrules:\n  - {name: x, effect: perhaps}\n  - {name: y, effect: deny, when: "args."}\n';
    const { status, body } = await refusedSimulation(gateway, { candidate });
    expect(status).toBe(422);
    expect(body.code).toBe('policy_invalid');
    expect(body.errors).toMatchObject([
      { file: 'candidate', line: 3, column: expect.any(Number) as number },
      { file: 'candidate', line: 4, message: expect.stringContaining('bad "when"') as string },
    ]);
  });

  test('refuses a second budget beside the one in force, at its place', async () => {
    const candidate = 'name: next\nbudget: {daily_limit_usd: 5}\n';
    const { status, body } = await refusedSimulation(gateway, { candidate, merge: true });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { file: 'candidate', line: 2, column: 1, message: 'another global document has a "budget"' },
    ]);
    expect((await simulate(gateway, { candidate })).policy_rule).toBe('default');
  });

  test("takes budgets into account, under the caps in force or the candidate's, and reserves nothing", async () => {
    const call = { action_type: 'llm_call', context: { model: 'gpt-5', prompt_tokens: 60_000 } };
    for (let time = 0; time < 3; time++) {
      expect(await simulate(gateway, call)).toMatchObject({ decision: 'allow', cost_micros: 600_000 });
    }
    const dear = await simulate(gateway, { ...call, estimated_cost_micros: 1_000_001 });
    expect(dear).toMatchObject({ decision: 'deny', policy_rule: 'budget/org.day', cost_micros: 1_000_001 });
    expect(dear.reason).toMatch(/^1\.00+1 USD would pass the org's cap of 1\.00 USD a day; 1\.00 USD are left until /);
    const candidate = (action: string) =>
      `name: n\ndefault: allow\nbudget: {agent_monthly_limit_usd: 0.5, action_on_exceed: ${action}}\n`;
    const paid = { ...call, estimated_cost_micros: 600_000 };
    expect(await simulate(gateway, { ...paid, candidate: candidate('deny') })).toMatchObject({
      decision: 'deny',
      policy_rule: 'budget/agent.month',
    });
    expect(await simulate(gateway, { ...paid, candidate: candidate('require_approval') })).toMatchObject({
      decision: 'pending',
      policy_rule: 'budget/agent.month',
    });
    const { body } = await gateway.api.get<{ items: { reserved_usd: string }[] }>('/api/v1/budgets', bootstrapKey);
    expect(body.items.filter(({ reserved_usd }) => Number(reserved_usd) > 0)).toEqual([]);
  });

  test('changes nothing and is not recorded', async () => {
    const before = gateway.audit().length;
    const ops = await gateway.api.get<{ total: number }>('/api/v1/ops', bootstrapKey);
    await simulate(gateway);
    expect(gateway.audit()).toHaveLength(before);
    expect((await gateway.api.get<{ total: number }>('/api/v1/ops', bootstrapKey)).body.total).toBe(ops.body.total);
  });

  test('knows the agent where it is registered', async () => {
    await gateway.register({ agentId: 'known' }, { metadata: { env: 'prod' }, framework: 'x' });
    const candidate = `name: n\nrules:\n  - {name: prod, effect: allow, when: "agent.metadata.env == 'prod'"}\n`;
    const known = { ...agent, agent_id: 'known' };
    expect((await simulate(gateway, { candidate, agent: known })).decision).toBe('allow');
    const stranger = await simulate(gateway, { candidate });
    expect(stranger.decision).toBe('deny');
    expect(ruleOf(stranger, 'n/prod')?.why).toMatch(/^its condition failed .* for allow that counts as not matching/);
  });

  test('by a tenant is about its own agents', async () => {
    expect((await simulate(gateway, {}, acme)).decision).toBe('allow');
    const own = await simulate(gateway, { agent: { agent_id: 'bot' } }, acme);
    expect(own.rules.map(({ document }) => document)).toContain('acme');
    const { status, body } = await refusedSimulation(gateway, { agent: { ...agent, org_id: 'globex' } }, acme);
    expect([status, body.code]).toEqual([403, 'tenant_bound']);
    const team = (await makeKey(gateway, { org_id: 'acme', team_id: 'core' })).key;
    expect((await simulate(gateway, { agent: { agent_id: 'bot' } }, team)).decision).toBe('allow');
    const elsewhere = await refusedSimulation(gateway, { agent: { ...agent, team_id: 'red' } }, team);
    expect([elsewhere.status, elsewhere.body.code]).toEqual([403, 'tenant_bound']);
    const whole = await refusedSimulation(gateway, { candidate: 'name: x\nscope: org:acme\n' }, team);
    expect([whole.status, whole.body.code]).toEqual([403, 'tenant_bound']);
  });

  test('tells a tenant neither globs nor conditions of global documents', async () => {
    const context = { tool_name: 'transfer', args: { amount: 500 } };
    const found = await simulate(gateway, { context }, acme);
    expect(found.decision).toBe('deny');
    const told = JSON.stringify(found.rules.filter(({ document }) => document !== 'acme'));
    for (const secret of ['docs.', 'args.amount', 'purpose', 'example.com', '/data'])
      expect(told).not.toContain(secret);
    expect(ruleOf(found, 'house/read')?.why).toBe('the tool "transfer" does not match');
    expect(ruleOf(found, 'acme/no-secrets')?.why).toBe('the tool "transfer" matches none of docs.secret');
    expect(ruleOf(found, 'globex/everything')).toBeUndefined();
    const team = (await makeKey(gateway, { org_id: 'acme', team_id: 'core' })).key;
    const seen = await simulate(gateway, { context }, team);
    expect(ruleOf(seen, 'acme/no-secrets')?.why).toBe('the tool "transfer" does not match');
  });

  test('by a tenant takes candidates for its own org only, beside what is in force', async () => {
    const own = 'name: acme\nscope: org:acme\nrules:\n  - {name: no-search, effect: deny, tools: [search]}\n';
    for (const merge of [false, true]) {
      const found = await simulate(gateway, { candidate: own, merge }, acme);
      expect(found).toMatchObject({ decision: 'deny', policy_rule: 'acme/acme/no-search' });
      expect(ruleOf(found, 'house/read')?.matched).toBe(true);
      // An org cannot replace what the operator has written for it.
      expect(ruleOf(found, 'acme/no-secrets')?.matched).toBe(false);
    }
    for (const scope of ['global', 'org:globex', 'team:globex/core']) {
      const { status, body } = await refusedSimulation(gateway, { candidate: `name: x\nscope: ${scope}\n` }, acme);
      expect([status, body.code]).toEqual([403, 'tenant_bound']);
    }
  });

  test('tells a tenant nothing of a document elsewhere that has the name of its candidate', async () => {
    const candidate = 'name: globex\nscope: org:acme\nrules:\n  - {name: mine, effect: deny, tools: [search]}\n';
    const found = await simulate(gateway, { candidate, merge: true }, acme);
    expect(found.policy_rule).toBe('acme/globex/mine');
    expect(JSON.stringify(found)).not.toContain('everything');
  });
});

describe.each(durableStores)('an explanation on $name', ({ open }) => {
  const rent = { actionType: ActionType.TOOL_CALL, context: toolCall('transfer', { amount: 5, purpose: 'rent' }) };

  test('is that of the time of the decision, after a change of policy and after a restart', async () => {
    await using store = await open();
    let gateway = await store.start({ policies: { 'house.yaml': house } });
    const bot = await gateway.register({ agentId: 'bot' });
    const { opId } = await gateway.check(bot, rent);
    const first = await explain(gateway, opId);
    expect(first).toMatchObject({
      op_id: opId,
      decision: 'allow',
      policy_rule: 'house/small-transfers',
      reason: 'allowed by rule house/small-transfers',
      notes: [],
    });
    expect(ruleOf(first, 'house/small-transfers')).toMatchObject({
      matched: true,
      why: 'it decided: the tool "transfer" matches transfer; its condition holds: args.amount <= 100.0',
    });
    expect(ruleOf(first, 'house/no-nights')).toMatchObject({
      matched: false,
      why: "its condition does not hold: args.purpose == 'none'",
    });
    const { entry } = entryOf(gateway, opId);
    expect(first.policy_version).toBe(entry?.policy_version);
    expect(first.at).toBe(entry?.at);

    gateway.writePolicy('house.yaml', 'name: house\nrules:\n  - {name: nothing, effect: deny}\n');
    await eventually(async () => expect((await gateway.check(bot)).policyRule).toBe('house/nothing'));
    expect(await explain(gateway, opId)).toEqual(first);

    await gateway.kill('SIGKILL');
    gateway = await store.start();
    expect(await explain(gateway, opId)).toEqual(first);
  });

  test('judges by what was recorded: spend, run and the time of the decision', async () => {
    await using store = await open();
    const policy = `
name: p
rules:
  - {name: work, effect: allow, tools: [search]}
  - {name: spent, effect: deny, when: "spend.agent.day_usd > 0.5"}
  - {name: often, effect: deny, when: "run.checks > 1"}
  - {name: all, effect: allow, tools: [other], when: "spend.global.day_usd < 1000.0"}
`;
    const gateway = await store.start({ policies: { 'p.yaml': policy } });
    const bot = await gateway.register({ agentId: 'bot' });
    const paid = { estimatedCostMicros: 400_000, runId: 'r1' };
    const first = (await gateway.check(bot, paid)).opId;
    const second = (await gateway.check(bot, paid)).opId;
    const third = await gateway.check(bot, paid);
    expect(third.policyRule).toBe('p/spent');
    const early = await explain(gateway, first);
    expect(early.decision).toBe('allow');
    expect(ruleOf(early, 'p/spent')?.why).toBe('its condition does not hold: spend.agent.day_usd > 0.5');
    expect(ruleOf(early, 'p/often')?.why).toBe('its condition does not hold: run.checks > 1');
    expect(ruleOf(await explain(gateway, second), 'p/spent')?.matched).toBe(false);
    const late = await explain(gateway, third.opId);
    expect(ruleOf(late, 'p/spent')?.why).toBe('it decided: its condition holds: spend.agent.day_usd > 0.5');
    const { entry } = entryOf(gateway, third.opId);
    expect(entry?.payload).toMatchObject({ spend: { agent: { day_usd: 0.8 } } });
    expect(JSON.stringify(entry?.payload)).not.toContain('global');
  });
});

function entryOf(gateway: TestGateway, opId: string) {
  return { entry: gateway.audit().find((entry) => entry.op_id === opId) };
}

describe('an explanation', () => {
  let gateway: TestGateway;
  let bot: Registered;
  let acme: string;
  let globex: string;
  beforeAll(async () => {
    gateway = await TestGateway.start({ policies: { 'house.yaml': house } });
    bot = await gateway.register({ agentId: 'bot' });
    acme = (await makeKey(gateway, { org_id: 'acme' })).key;
    globex = (await makeKey(gateway, { org_id: 'globex' })).key;
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('of a redacted argument says that it is one', async () => {
    const context = toolCall('transfer', { amount: 5, purpose: 'rent', password: 'hunter2hunter2' });
    const { opId } = await gateway.check(bot, { context });
    const found = await explain(gateway, opId);
    expect(found.decision).toBe('allow');
    expect(found.notes).toEqual([
      'secrets in the request are recorded as "[redacted]", and what looks at them is judged by that',
    ]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  test('of what is redacted holds to what was decided', async () => {
    const policy =
      'name: extra\nscope: org:acme\nrules:\n  - {name: odd, effect: deny, tools: [docs.odd], when: "args.token != \'secret-token-of-the-house\'"}\n';
    gateway.writePolicy('extra.yaml', policy);
    const context = toolCall('docs.odd', { token: 'secret-token-of-the-house' });
    let opId = '';
    await eventually(async () => {
      const answer = await gateway.check(bot, { context: toolCall('docs.odd', { token: 'x' }) });
      expect(answer.policyRule).toBe('extra/odd');
      ({ opId } = await gateway.check(bot, { context }));
    });
    const found = await explain(gateway, opId);
    expect(found).toMatchObject({ decision: 'allow', policy_rule: 'house/read' });
    expect(ruleOf(found, 'extra/odd')).toMatchObject({
      matched: false,
      why: expect.stringMatching(
        /^judged again it would match .* it did not match then, or it would have decided$/,
      ) as string,
    });
    expect(ruleOf(found, 'house/read')).toMatchObject({
      matched: true,
      why: expect.stringMatching(/^it decided: /) as string,
    });
  });

  test('of arguments that were too long to be recorded does not guess', async () => {
    const context = toolCall('transfer', { amount: 5, purpose: 'rent', text: 'x'.repeat(70_000) });
    const { opId } = await gateway.check(bot, { context });
    const found = await explain(gateway, opId);
    expect(found.notes).toEqual(['the arguments were too long to be recorded']);
    expect(ruleOf(found, 'house/no-nights')?.why).toBe(
      'could not be judged again: the arguments were too long to be recorded; it did not match then, or it would have decided',
    );
    expect(ruleOf(found, 'house/small-transfers')).toMatchObject({ matched: true });
  });

  test("of a budget's refusal says that no rule decided", async () => {
    const rich = await gateway.register({ orgId: 'rich', agentId: 'bot' });
    const { opId, policyRule } = await gateway.check(rich, { estimatedCostMicros: 2_000_000 });
    expect(policyRule).toBe('budget/org.day');
    const found = await explain(gateway, opId);
    expect(found).toMatchObject({ decision: 'deny', policy_rule: 'budget/org.day' });
    expect(found.notes).toContain('no rule decided this: a budget did');
    expect(ruleOf(found, 'house/read')?.matched).toBe(true);
  });

  test('of a denial by default shows that nothing matched', async () => {
    const { opId, reason } = await gateway.check(bot, { context: toolCall('rm') });
    expect(reason).toMatch(/^no rule allows tool_call of "rm", and the default is deny; allowed here: tool_call of /);
    const found = await explain(gateway, opId);
    expect(found).toMatchObject({ decision: 'deny', policy_rule: 'default', reason });
    expect(found.rules.filter(({ matched }) => matched)).toEqual([]);
  });

  test('is of the decision, and not of its replays', async () => {
    const check = { traceId: 'replayed', spanId: '1' };
    await gateway.check(bot, check);
    await gateway.check(bot, { ...check, context: toolCall('docs.other') });
    for (let time = 0; time < 3; time++) await gateway.check(bot, check);
    expect(await explain(gateway, 'replayed:1')).toMatchObject({ decision: 'allow', policy_rule: 'house/read' });
  });

  test('stays the same when the agent has left, and says so', async () => {
    const leaving = await gateway.register({ agentId: 'leaving' });
    const { opId } = await gateway.check(leaving);
    const before = await explain(gateway, opId);
    await gateway.deregister(leaving);
    const notes = ['the agent is not registered any more, so its name, framework and metadata are not known'];
    expect(await explain(gateway, opId)).toEqual({ ...before, notes });
  });

  test('is found by whose operation it is, where two agents have the id', async () => {
    const other = await gateway.register({ agentId: 'other' });
    const foreign = await gateway.register({ orgId: 'globex', agentId: 'bot' });
    const check = { traceId: 'shared', spanId: '1' };
    await gateway.check(bot, check);
    await gateway.check(other, { ...check, context: toolCall('rm') });
    await gateway.check(foreign, check);
    const { status, body } = await unexplained(gateway, 'shared:1');
    expect([status, body.code]).toEqual([409, 'ambiguous_op']);
    expect(body.candidates?.toSorted()).toEqual([
      'acme/core/bot/shared:1',
      'acme/core/other/shared:1',
      'globex/core/bot/shared:1',
    ]);
    expect((await explain(gateway, 'acme/core/other/shared:1')).decision).toBe('deny');
    expect((await explain(gateway, 'acme/core/bot/shared:1')).decision).toBe('allow');
    expect((await explain(gateway, 'shared:1', globex)).decision).toBe('allow');
  });

  test('of what nobody decided, or of another tenant, does not exist', async () => {
    const { opId } = await gateway.check(bot);
    const registered = { agent, trace_id: 'registered', span_id: '1' };
    await gateway.api.post('/api/v1/ops', bootstrapKey, registered);
    for (const [id, bearer] of [
      ['nobody:1', bootstrapKey],
      ['a/b/c/d/e', bootstrapKey],
      ['acme/core/nobody/x:1', bootstrapKey],
      ['registered:1', bootstrapKey],
      [opId, globex],
      [`acme/core/bot/${opId}`, globex],
    ] as const) {
      const { status, body } = await unexplained(gateway, id, bearer);
      expect([status, body.code], id).toEqual([404, 'decision_not_found']);
    }
  });

  test('tells a tenant neither globs nor conditions of global documents', async () => {
    const { opId } = await gateway.check(bot, { context: toolCall('docs.secret') });
    const found = await explain(gateway, opId, acme);
    expect(found.policy_rule).toBe('acme/no-secrets');
    expect(ruleOf(found, 'house/read')).toMatchObject({ matched: true, why: 'the tool "docs.secret" matches' });
    expect(ruleOf(found, 'acme/no-secrets')?.why).toBe('it decided: the tool "docs.secret" matches docs.secret');
    expect(JSON.stringify(found.rules.filter(({ document }) => document === 'house'))).not.toContain('docs.*');
  });
});
