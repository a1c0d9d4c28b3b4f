import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActionType } from '@reeve/contract';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, runServe, TestGateway, toolCall } from '../harness/gateway.ts';

/** A start on these policies, on free ports and without a data folder. */
function startWith(policies: string) {
  return runServe(['--policy', policies, '--database', 'memory:', '--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']);
}

test('no policy at all: everything is denied with "no policy loaded"', async () => {
  await using gateway = await TestGateway.start();
  const agent = await gateway.register({ agentId: 'a' });
  expect(await gateway.check(agent)).toMatchObject({ decision: 2, reason: 'no policy loaded', policyRule: 'default' });
});

test('an org policy cascades only to agents of that org', async () => {
  const policies = {
    'all.yaml': 'name: all\ndefault: allow\n',
    'acme.yaml': 'name: acme\nscope: org:acme\nrules:\n  - {name: no-mail, effect: deny, tools: [send_mail]}\n',
    'many.yaml': [
      'name: team\nscope: team:acme/red\nrules:\n  - {name: no-web, effect: deny, hosts: ["*.example.com"]}',
      'name: agent\nscope: agent:globex/core/x\nrules:\n  - {name: no-exec, effect: deny, actions: [process_exec]}',
    ].join('\n---\n'),
  };
  await using gateway = await TestGateway.start({ policies });
  const [acme, red, globex] = await Promise.all([
    gateway.register({ orgId: 'acme', agentId: 'x' }),
    gateway.register({ orgId: 'acme', teamId: 'red', agentId: 'x' }),
    gateway.register({ orgId: 'globex', agentId: 'x' }),
  ]);
  const mail = { context: toolCall('send_mail') };
  const web = {
    actionType: 4 as const,
    context: {
      action: { $case: 'networkCall' as const, value: { host: 'WWW.Example.COM', port: 443, protocol: 'https' } },
    },
  };
  const exec = {
    actionType: 5 as const,
    context: { action: { $case: 'processExec' as const, value: { command: 'ls', args: [] } } },
  };
  const rules = async (request: object) =>
    (await Promise.all([acme, red, globex].map((agent) => gateway.check(agent, request)))).map(
      (answer) => answer.policyRule,
    );
  expect(await rules(mail)).toEqual(['acme/no-mail', 'acme/no-mail', 'default']);
  expect(await rules(web)).toEqual(['default', 'team/no-web', 'default']);
  expect(await rules(exec)).toEqual(['default', 'default', 'agent/no-exec']);
});

test('a changed folder is reloaded; a broken file holds back the whole folder and is shown', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const agent = await gateway.register({ agentId: 'a' });
  const version = (await gateway.heartbeat(agent)).policyVersion;

  gateway.writePolicy('extra.yaml', 'name: extra\nrules:\n  - {name: no, effect: deny, tools: [search]}\n');
  await eventually(async () => expect((await gateway.check(agent)).policyRule).toBe('extra/no'));
  expect((await gateway.heartbeat(agent)).policyVersion).not.toBe(version);

  gateway.writePolicy('broken.yaml', 'name: broken\nrules:\n  - {name: x, effect: perhaps}\n');
  gateway.writePolicy('extra.yaml', 'name: extra\n');
  await eventually(async () => expect((await gateway.ready()).body.status).toBe('degraded'));
  const { status, body } = await gateway.ready();
  expect(status).toBe(200);
  expect(body.parts['policy']?.detail).toMatch(/^broken\.yaml:3:\d+: "effect" must be/);
  expect((await gateway.check(agent)).policyRule).toBe('extra/no');
  expect(gateway.audit().filter((entry) => entry.event_type === 'PolicyReloadFailed')).not.toHaveLength(0);

  rmSync(join(gateway.folder, 'policies', 'broken.yaml'));
  await eventually(async () => expect((await gateway.check(agent)).policyRule).toBe('default'));
  expect((await gateway.ready()).body.status).toBe('ok');
});

test('a reload under load mixes nothing: each answer fits the version that its entry names', async () => {
  const document = (n: number) =>
    `name: flip\nrules:\n  - {name: v${n}, effect: ${n % 2 === 0 ? 'allow' : 'deny'}, tools: [search]}\n`;
  await using gateway = await TestGateway.start({ policies: { 'flip.yaml': document(0) } });
  const agent = await gateway.register({ agentId: 'a' });
  const load = { asking: true };
  let asked = 0;
  const answeredBy = new Set<string>();
  const askers = Array.from({ length: 8 }, async () => {
    while (load.asking) {
      const answer = await gateway.check(agent);
      asked++;
      answeredBy.add(answer.policyRule);
      const version = Number(answer.policyRule.replace('flip/v', ''));
      expect(answer.decision).toBe(version % 2 === 0 ? 1 : 2);
    }
  });
  // On a busy machine, the gateway answers less and reloads later.
  const isEnough = () => asked > 100 && answeredBy.size > 1;
  for (let n = 1; n <= 10 || (n <= 500 && !isEnough()); n++) {
    gateway.writePolicy('flip.yaml', document(n));
    await sleep(100);
  }
  load.asking = false;
  await Promise.all(askers);
  expect(asked).toBeGreaterThan(100);
  const ruleOf = new Map<string, string>();
  for (const { policy_version, policy_rule, op_id } of gateway.audit()) {
    if (op_id === null || policy_version === null || policy_rule === null) continue;
    expect(ruleOf.get(policy_version) ?? policy_rule).toBe(policy_rule);
    ruleOf.set(policy_version, policy_rule);
  }
  expect(ruleOf.size).toBeGreaterThan(1);
});

test('a policy that cannot be read any more is recorded, and what was in force stays so', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'reeve-policy-')), 'only.yaml');
  writeFileSync(file, allowAll);
  await using gateway = await TestGateway.start({ args: ['--policy', file] });
  const agent = await gateway.register({ agentId: 'a' });
  rmSync(file);
  await eventually(async () => expect((await gateway.ready()).body.status).toBe('degraded'));
  await eventually(() => expect(gateway.audit().at(-1)?.event_type).toBe('PolicyReloadFailed'));
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
});

test('a rule that can never match is an error, not a hole', async () => {
  await using gateway = await TestGateway.start();
  gateway.writePolicy('x.yaml', 'name: x\nrules:\n  - {name: y, effect: deny, tools: [a], models: [b]}\n');
  const { code, stderr } = await startWith(join(gateway.folder, 'policies'));
  expect(code).toBe(2);
  expect(stderr).toMatch(/x\.yaml:3:\d+: this rule can never match/);
});

test('a bad policy at start: exit 2 with every position', async () => {
  await using gateway = await TestGateway.start();
  const folder = join(gateway.folder, 'policies');
  gateway.writePolicy('a.yaml', 'name: a\nrules:\n  - {name: x, effect: deny, tools: ["[oops"]}\n');
  gateway.writePolicy('b.yaml', 'name: a\nsurprise: 1\n');
  const { code, stderr } = await startWith(folder);
  expect(code).toBe(2);
  expect(stderr).toMatch(/a\.yaml:3:\d+: bad glob/);
  expect(stderr).toMatch(/b\.yaml:2:1: unknown key "surprise"/);
  expect(stderr).toMatch(/b\.yaml:1:\d+: a document named "a" exists already/);
});

test('approvals that nobody could give are refused with their place', async () => {
  await using gateway = await TestGateway.start();
  for (const [text, said] of [
    ['name: x\nbudget: {action_on_exceed: ask}\n', '"action_on_exceed" must be "deny" or "require_approval"'],
    ['name: x\nrules:\n  - {name: y, effect: ask}\n', '"effect" must be "allow", "deny", "require_approval" or "mask"'],
    [
      'name: x\nrules:\n  - {name: y, effect: require_approval, approvals: {count: 6}}\n',
      '"count" must be a whole number from 1 to 5',
    ],
    [
      'name: x\nrules:\n  - {name: y, effect: allow, approvals: {count: 2}}\n',
      '"approvals" belongs to rules with the effect "require_approval" only',
    ],
  ] as const) {
    gateway.writePolicy('x.yaml', text);
    const { code, stderr } = await startWith(join(gateway.folder, 'policies'));
    expect(code).toBe(2);
    expect(stderr).toMatch(/x\.yaml:[23]:\d+: /);
    expect(stderr).toContain(said);
  }
});

const conditions = `
name: conditions
rules:
  - { name: small, effect: allow, tools: [pay], when: args.amount <= 100 && agent.org_id == "acme" }
  - { name: prod, effect: deny, tools: [pay], when: agent.metadata.env == "prod" }
  - { name: few, effect: allow, tools: [search], when: run.checks < 2 }
  - { name: cheap, effect: allow, actions: [llm_call], when: spend.agent.day_usd + action.cost_usd <= 1 }
`;

test('conditions look at arguments, agent, run and spend; one that fails is on the safe side', async () => {
  await using gateway = await TestGateway.start({ policies: { 'c.yaml': conditions } });
  const bot = await gateway.register({ agentId: 'bot' }, { metadata: { env: 'test' } });
  const pay = (agent: Registered, args: object) => gateway.check(agent, { context: toolCall('pay', args) });
  expect(await pay(bot, { amount: 100 })).toMatchObject({ decision: 1, policyRule: 'conditions/small' });
  expect(await pay(bot, { amount: 100.5 })).toMatchObject({ decision: 2, policyRule: 'default' });
  expect(await pay(bot, { amount: 'much' })).toMatchObject({ decision: 2, policyRule: 'default' });
  const bare = await gateway.register({ agentId: 'bare' });
  expect(await pay(bare, { amount: 1 })).toMatchObject({ decision: 2, policyRule: 'conditions/prod' });
  const decisions: number[] = [];
  for (let time = 0; time < 3; time++) {
    decisions.push((await gateway.check(bot, { context: toolCall('search'), runId: 'r1' })).decision);
  }
  expect(decisions).toEqual([1, 1, 2]);
  const llm = {
    actionType: ActionType.LLM_CALL,
    context: { action: { $case: 'llmCall' as const, value: { model: 'm', promptTokens: 0, maxOutputTokens: 0 } } },
  };
  expect((await gateway.check(bot, { ...llm, estimatedCostMicros: 900_000 })).decision).toBe(1);
  expect((await gateway.check(bot, { ...llm, estimatedCostMicros: 200_000 })).decision).toBe(2);
});

test.each([
  ['agent.orgid == "x"', /p\.yaml:3:\d+: bad "when": .*orgid/],
  ['args.amount >', /p\.yaml:3:\d+: bad "when"/],
  ['1 + 1', /bad "when": a condition must be true or false/],
  ['nothing == 1', /bad "when": .*nothing/],
])('the condition %j stops the start, with its place', async (when, message) => {
  await using gateway = await TestGateway.start();
  gateway.writePolicy('p.yaml', `name: p\nrules:\n  - { name: x, effect: allow, when: '${when}' }\n`);
  const { code, stderr } = await startWith(join(gateway.folder, 'policies'));
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
