import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const house = `
name: house
default: allow
rules:
  - { name: no-deletes, effect: deny, tools: ["delete_*"] }
`;

let gateway: TestGateway;
let home: TestHome;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'house.yaml': house } });
  home = new TestHome();
  folder = mkdtempSync(join(tmpdir(), 'reeve-policies-'));
  env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(args, { env });
const json = <Data>(...args: string[]) => home.json<Data>(args, { env });

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const mail = (tools: string) => `# Mail of acme
scope: org:acme
rules:
  - { name: no-mail, effect: deny, tools: [${tools}] }
`;

describe('policy push', () => {
  test('stores each document under its name, and shows what it does', async () => {
    const path = write('pair.yaml', `${mail('send_mail')}---\nname: other\nscope: org:other\n`);
    const { code, stdout, stderr } = await run('policy', 'push', path, '--yes', '--note', 'ticket 42');
    expect([code, stdout]).toEqual([0, 'pair is in force as version 1.\nother is in force as version 1.\n']);
    expect(stderr).toBe('pair: new, 4 lines\nother: new, 2 lines\n2 new, 0 changed, 0 as they are.\n');
    const bot = await gateway.register({ orgId: 'acme', agentId: 'pusher' });
    expect(await gateway.check(bot, { context: toolCall('send_mail') })).toMatchObject({ policyRule: 'pair/no-mail' });
    const history = await json<{ items: { version: number; note: string; source: string }[] }>(
      'policy',
      'history',
      'pair',
    );
    expect(history.items).toMatchObject([{ version: 1, note: 'ticket 42', source: mail('send_mail') }]);
  });

  test('shows the lines that differ, and leaves alone what is as it was', async () => {
    const path = write('pair.yaml', `${mail('send_mail, send_sms')}---\nname: other\nscope: org:other\n`);
    const dry = await run('policy', 'push', path, '--dry-run');
    expect(dry.code).toBe(0);
    expect(dry.stdout).toContain('pair: changed\n');
    expect(dry.stdout).toContain('  -   - { name: no-mail, effect: deny, tools: [send_mail] }\n');
    expect(dry.stdout).toContain('  +   - { name: no-mail, effect: deny, tools: [send_mail, send_sms] }\n');
    expect(dry.stdout).toContain('other: as it is in force\n');
    expect(await json('policy', 'push', path, '--yes')).toEqual({
      pushed: [
        { name: 'pair', change: 'changed', version: 2 },
        { name: 'other', change: 'unchanged', version: 1 },
      ],
    });
    const again = await run('policy', 'push', path);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Nothing to push.')]);
  });

  test('asks on a terminal, and does nothing without a yes', async () => {
    const path = write('asked.yaml', 'scope: org:asked\n');
    await using no = home.startOnTerminal(['policy', 'push', path], { env });
    await no.says(/Put 1 document in force at http.*\? \[y\/N\] $/);
    no.type('\r');
    await no.ended();
    expect([no.child.exitCode, no.stdout]).toEqual([1, expect.stringContaining('Nothing was pushed.')]);
    expect((await run('policy', 'show', 'asked')).code).toBe(1);
    await using yes = home.startOnTerminal(['policy', 'push', path], { env });
    await yes.says(/\[y\/N\] $/);
    yes.type('y\r');
    await yes.ended();
    expect([yes.child.exitCode, yes.stdout]).toEqual([0, expect.stringContaining('asked is in force as version 1.')]);
  });

  test('asks nobody where there is no terminal', async () => {
    const { code, stdout, stderr } = await run('policy', 'push', write('piped.yaml', 'scope: org:piped\n'));
    expect([code, stdout]).toEqual([0, 'piped is in force as version 1.\n']);
    expect(stderr).not.toContain('[y/N]');
  });

  test('sends nothing where a file is wrong, and says where', async () => {
    const path = write('wrong.yaml', 'scope: org:acme\nrulez: []\n');
    const { code, stderr } = await run('policy', 'push', path, '--yes');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/wrong\.yaml:2:1: unknown key "rulez"/)]);
    expect((await run('policy', 'push', write('empty.yaml', '# later\n'), '--yes')).stderr).toMatch(/no policy in/);
  });

  test('shows what only the gateway can see to be wrong, with what is in force already', async () => {
    const budget = (name: string) => `name: ${name}\nbudget: { daily_limit_usd: 5 }\n`;
    expect((await run('policy', 'push', write('one.yaml', budget('one')), '--yes')).code).toBe(0);
    const path = write('two.yaml', `name: fine\nscope: org:fine\n---\n${budget('two')}`);
    const { code, stderr } = await run('policy', 'push', path, '--yes');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*another global document has a "budget"/m);
    expect(stderr).toContain('"two" was not stored; in force already: fine');
    await run('policy', 'delete', 'one', '--yes');
  });

  test('leaves a document of a file to its file', async () => {
    const { code, stderr } = await run('policy', 'push', write('h.yaml', house), '--yes');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/has "house" in its file house\.yaml.*nothing was pushed/),
    ]);
  });

  test('refuses to overwrite what somebody else has stored meanwhile', async () => {
    const path = write('raced.yaml', 'scope: org:raced\n');
    await using cli = home.startOnTerminal(['policy', 'push', path], { env });
    await cli.says(/\[y\/N\] $/);
    const put = { bearer: bootstrapKey, json: { source: 'scope: org:raced\nrules: []\n' } };
    expect((await gateway.api.send('PUT', '/api/v1/policies/raced', put)).status).toBe(200);
    cli.type('y\r');
    await cli.ended();
    expect([cli.child.exitCode, cli.stdout]).toEqual([1, expect.stringMatching(/error: .*raced/)]);
    expect((await run('policy', 'show', 'raced')).stdout).toContain('rules: []');
  });
});

describe('policies', () => {
  test('are listed in every form', async () => {
    await run('policy', 'push', write('listed.yaml', mail('x')), '--yes');
    const { code, stdout } = await run('policy', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^house +global +enforce +allow +1 +- +- +file house\.yaml/m);
    expect(stdout).toMatch(/^listed +org:acme +enforce +- +1 +- +- +store +1 .*\(api_key abcdefghijkl\)/m);
    expect(stdout).toMatch(/^Policy version [0-9a-f]{16}$/m);
    const data = await json<{ items: { name: string }[]; policy_version: string }>('policy', 'list');
    expect(data.items.map(({ name }) => name)).toContain('listed');
    expect(parse((await run('policy', 'list', '-o', 'yaml')).stdout)).toEqual(data);
  });

  test('are shown as they were written', async () => {
    const { code, stdout } = await run('policy', 'show', 'listed');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# listed \(org:acme, enforce\), version 1, stored \S+Z by .*\n# Mail of acme\n/);
    expect(parse(stdout)).toEqual(parse(mail('x')));
    expect(await json('policy', 'show', 'listed')).toMatchObject({ origin: 'store', source: mail('x') });
    const gone = await run('policy', 'show', 'nothing');
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringMatching(/^error: .*nothing/)]);
  });

  test('are rolled back to a version, as a new one', async () => {
    await run('policy', 'push', write('rolled.yaml', mail('one')), '--yes');
    await run('policy', 'push', write('rolled.yaml', mail('two')), '--yes');
    const { code, stdout } = await run('policy', 'rollback', 'rolled', '1', '--note', 'two was wrong');
    expect([code, stdout]).toEqual([0, 'rolled is as in version 1 again, as version 3.\n']);
    const history = await run('policy', 'history', 'rolled');
    expect(history.stdout).toMatch(/^ +3 +in force +\S+Z +.* 4 +two was wrong$/m);
    expect(history.stdout).toMatch(/^ +1 +- +\S+Z/m);
    expect((await run('policy', 'show', 'rolled')).stdout).toContain('[one]');
    const never = await run('policy', 'rollback', 'rolled', '9');
    expect([never.code, never.stderr]).toEqual([1, expect.stringMatching(/version 9/)]);
    expect((await run('policy', 'rollback', 'rolled')).code).toBe(2);
    expect((await run('policy', 'rollback', 'rolled', 'old')).stderr).toMatch(/VERSION must be a whole number/);
  });

  test('are rolled back and deleted on a terminal after a question', async () => {
    await run('policy', 'push', write('kept.yaml', mail('one')), '--yes');
    await using no = home.startOnTerminal(['policy', 'delete', 'kept'], { env });
    await no.says(/Take kept out of force at http.*\? \[y\/N\] $/);
    no.type('n\r');
    await no.ended();
    expect([no.child.exitCode, no.stdout]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
    await using roll = home.startOnTerminal(['policy', 'rollback', 'kept', '1'], { env });
    await roll.says(/Put version 1 of kept in force at http.*\? \[y\/N\] $/);
    roll.type('y\r');
    await roll.ended();
    expect([roll.child.exitCode, roll.stdout]).toEqual([0, expect.stringContaining('as version 2.')]);
    expect(await json('policy', 'delete', 'kept')).toEqual({ name: 'kept', deleted: true });
    expect((await run('policy', 'show', 'kept')).code).toBe(1);
    expect((await run('policy', 'history', 'kept')).stdout).toMatch(/^ +3 +deleted/m);
  });
});

test('documents of a tenant are pushed, shown, rolled back and deleted by their short and their whole names', async () => {
  const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme', team_id: 'web' });
  const tenant = { env: { ...env, REEVE_API_KEY: key } };
  const asTenant = (...args: string[]) => home.run(args, tenant);
  const ours = (tool: string) => `name: ours\nscope: team:acme/web\nrules:\n  - { effect: deny, tools: [${tool}] }\n`;
  const first = await asTenant('policy', 'push', write('ours.yaml', ours('one')), '--yes');
  expect([first.code, first.stdout]).toEqual([0, 'acme/web/ours is in force as version 1.\n']);
  const again = await asTenant('policy', 'push', write('ours.yaml', ours('one')), '--yes');
  expect([again.code, again.stdout]).toEqual([0, 'acme/web/ours: as it is in force\nNothing to push.\n']);
  const second = await asTenant('policy', 'push', write('ours.yaml', ours('two')), '--yes');
  expect(second.stdout).toBe('acme/web/ours is in force as version 2.\n');
  expect((await asTenant('policy', 'history', 'ours')).stdout).toMatch(/^ +2 +in force/m);
  expect((await run('policy', 'history', 'acme/web/ours')).stdout).toMatch(/^ +2 +in force/m);
  const back = await asTenant('policy', 'rollback', 'acme/web/ours', '1');
  expect([back.code, back.stdout]).toEqual([0, 'acme/web/ours is as in version 1 again, as version 3.\n']);
  expect((await run('policy', 'show', 'acme/web/ours')).stdout).toContain('[one]');
  expect((await run('policy', 'rollback', 'acme/web/ours', '2')).code).toBe(0);
  const refused = await asTenant('policy', 'delete', 'ours');
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/the operator has written "acme\/web\/ours"/),
  ]);
  expect((await run('policy', 'delete', 'acme/web/ours')).code).toBe(0);
});

describe('policy simulate', () => {
  const simulate = (...args: string[]) => run('policy', 'simulate', '--agent', 'acme/sim/bot', ...args);

  test('says what a check would be answered, and why, without a trace', async () => {
    const before = gateway.audit().length;
    const { code, stdout } = await simulate('--tool', 'delete_all');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Decision +deny\nReason +denied by rule house\/no-deletes/);
    expect(stdout).toMatch(/^yes +house\/no-deletes +deny +the tool "delete_all" matches delete_\*$/m);
    expect(gateway.audit().length).toBe(before);
    const data = await json<{ decision: string; rules: { rule: string }[] }>(
      ...['policy', 'simulate', '--agent', 'acme/sim/bot', '--tool', 'search'],
    );
    expect(data).toMatchObject({ decision: 'allow', policy_rule: 'default' });
  });

  const candidate = `
name: house
rules:
  - { name: small, effect: allow, tools: [pay], when: args.amount <= 10 }
  - { name: models, effect: deny, models: ["gpt-*"] }
  - { name: files, effect: deny, paths: ["/etc/**"] }
  - { name: hosts, effect: deny, hosts: [evil.com], when: action.port == 443 }
  - { name: commands, effect: deny, commands: ["git push **"] }
  - { name: costly, effect: require_approval, when: action.cost_usd > 1.0 && run.id == "r1" }
`;

  test.each<[string, string[]]>([
    ['house/small', ['--tool', 'pay', '--args', '{"amount": 3}']],
    ['default', ['--tool', 'pay', '--args', '{"amount": 30}']],
    ['house/models', ['--model', 'gpt-5', '--input-tokens', '5', '--output-tokens', '7']],
    ['house/files', ['--path', '/srv/../etc/passwd', '--operation', 'read']],
    ['house/hosts', ['--host', 'EVIL.com', '--port', '443']],
    ['house/commands', ['--command', 'git', '--args', '["push", "--force"]']],
    ['house/costly', ['--tool', 'x', '--cost', '1.5', '--run', 'r1']],
    ['default', ['--action', 'agent_spawn']],
  ])('a candidate answers by %s to %j', async (rule, args) => {
    const path = write('candidate.yaml', candidate);
    const answer = await json<{ policy_rule: string }>(
      ...['policy', 'simulate', '--agent', 'acme/sim/bot', '--candidate', path, ...args],
    );
    expect(answer.policy_rule).toBe(rule);
  });

  test('takes a candidate alone, or with what is in force', async () => {
    const path = write('extra.yaml', 'rules:\n  - { name: no-search, effect: deny, tools: [search] }\n');
    expect((await simulate('--tool', 'anything', '--candidate', path)).stdout).toMatch(/^Decision +deny/);
    expect((await simulate('--tool', 'anything', '--candidate', path, '--merge')).stdout).toMatch(/^Decision +allow/);
    const merged = await simulate('--tool', 'search', '--candidate', path, '--merge');
    expect(merged.stdout).toMatch(/^Rule +extra\/no-search$/m);
  });

  test('takes the whole request from a file, and ends with 1 where another decision was expected', async () => {
    const request = write(
      'request.yaml',
      'agent: acme/sim/bot\naction_type: tool_call\ncontext: { tool_name: delete_it }\n',
    );
    expect((await run('policy', 'simulate', '--request', request, '--expect', 'deny')).code).toBe(0);
    const other = await run('policy', 'simulate', '--request', request, '--expect', 'allow');
    expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/^Decision +deny/)]);
    const input = JSON.stringify({ agent: { agent_id: 'x' }, action_type: 'TOOL_CALL', context: { tool_name: 'y' } });
    expect((await home.run(['policy', 'simulate', '--request', '-'], { env, input })).stdout).toMatch(/allow/);
  });

  test.each([
    [[], /say who asks: --agent/],
    [['--agent', 'a/b/c'], /say what is asked for/],
    [['--agent', 'bot', '--tool', 'x'], /AGENT must be ORG\/TEAM\/AGENT/],
    [['--agent', 'a/b/c', '--tool', 'x', '--args', '{'], /--args must be JSON/],
    [['--agent', 'a/b/c', '--tool', 'x', '--cost', '-1'], /--cost must be a number of US dollars/],
    [['--agent', 'a/b/c', '--tool', 'x', '--merge'], /--merge needs a --candidate/],
    [['--agent', 'a/b/c', '--action', 'fly'], /--action must be one of llm_call/],
  ])('%j is a mistake', async (args, words) => {
    const { code, stderr } = await run('policy', 'simulate', ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  });
});

describe('policy explain', () => {
  test('says which rule decided, and why the others did not', async () => {
    const bot = await gateway.register({ orgId: 'why', agentId: 'bot' });
    await gateway.check(bot, { traceId: 'e1', spanId: 's', context: toolCall('delete_all') });
    const { code, stdout } = await run('policy', 'explain', 'e1:s');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Operation +e1:s\nDecision +deny$/m);
    expect(stdout).toMatch(/^yes +house\/no-deletes +deny/m);
    expect(await json('policy', 'explain', 'e1:s')).toMatchObject({ op_id: 'e1:s', policy_rule: 'house/no-deletes' });
    const unknown = await run('policy', 'explain', 'no:where');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('no:where')]);
  });
});

describe('policy backtest', () => {
  test('tells what would change, by outcome, rule and agent', async () => {
    const bot = await gateway.register({ orgId: 'past', agentId: 'bot' });
    await gateway.check(bot, { traceId: 'b1', spanId: 's', context: toolCall('search') });
    await gateway.check(bot, { traceId: 'b2', spanId: 's', context: toolCall('delete_all') });
    const path = write(
      'next.yaml',
      'name: house\ndefault: allow\nrules:\n  - { name: no-search, effect: deny, tools: [search] }\n',
    );
    const args = ['policy', 'backtest', '--candidate', path, '--org', 'past', '--days', '1'];
    const { code, stdout } = await run(...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^2 decisions from \S+Z to \S+Z\.\n2 decisions would change\.$/m);
    expect(stdout).toMatch(/^allow +deny +1$/m);
    expect(stdout).toMatch(/^house\/no-search +allow +deny +1$/m);
    expect(stdout).toMatch(/^past\/core\/bot +deny +allow +1$/m);
    expect(stdout).toMatch(/b2:s +past\/core\/bot +tool_call +delete_all +deny by house\/no-deletes +allow by default/);
    const data = await json<{ examined: number; changes: { op_id: string }[] }>(...args);
    expect([data.examined, data.changes.map(({ op_id: id }) => id).toSorted()]).toEqual([2, ['b1:s', 'b2:s']]);
    expect((await run(...args, '--fail-on-change')).code).toBe(1);
    const same = await run('policy', 'backtest', '--candidate', write('same.yaml', house), '--org', 'past');
    expect(same.stdout).toContain('Nothing would change.');
    expect((await run('policy', 'backtest')).stderr).toMatch(/say what to try: --candidate PATH/);
  });

  test('shows how far it is on a terminal, and knows an answer that was broken off', async () => {
    const progress = (share: number) =>
      `${JSON.stringify({ type: 'progress', examined: 10, total: null, changed: 1, share })}\n`;
    await using slow = await FakeServer.start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(progress(0.25));
      setTimeout(() => response.end(progress(0.5)), 2500);
      return undefined;
    });
    const args = ['policy', 'backtest', '--candidate', write('same.yaml', house)];
    await using cli = home.startOnTerminal(args, { env: { REEVE_API_URL: slow.url } });
    await cli.says(/Judging again: 25 %, 10 decisions, 1 would change/);
    await cli.ended();
    expect([cli.child.exitCode, cli.stdout]).toEqual([1, expect.stringContaining('broke the backtest off')]);
    await using failing = await FakeServer.start(() => ({
      body: `${progress(0.1)}${JSON.stringify({ type: 'error', detail: 'the \u001b[2Jstore is away' })}\n`,
    }));
    const failed = await home.run(args, { env: { REEVE_API_URL: failing.url } });
    expect([failed.code, failed.stderr]).toEqual([1, 'error: the backtest failed: the [2Jstore is away\n']);
  });
});

test('a credential without the scope is told which it needs', async () => {
  const { key } = await makeKey(gateway, { scopes: ['read'] });
  const path = write('denied.yaml', 'scope: org:denied\n');
  const { code, stderr } = await home.run(['policy', 'push', path, '--yes'], { env: { ...env, REEVE_API_KEY: key } });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*admin/m)]);
});

test('what a gateway says of a policy does not act on the terminal', async () => {
  const evil = '\u001b[31mred\u0007';
  const policy = {
    name: 'p',
    scope: evil,
    mode: 'enforce',
    default: null,
    rules: 1,
    has_budget: false,
    has_pricing: false,
    origin: 'file',
    file: evil,
    version: null,
    updated_at: null,
    updated_by: null,
    source: `# ${evil}\nname: p\n`,
  };
  await using fake = await FakeServer.start(({ path }) => ({
    json: path.endsWith('/p') ? policy : { items: [policy], next_cursor: null, total: 1, policy_version: evil },
  }));
  for (const args of [
    ['policy', 'list'],
    ['policy', 'show', 'p'],
    ['policy', 'list', '-o', 'json'],
  ]) {
    const { code, stdout } = await home.run(args, { env: { REEVE_API_URL: fake.url } });
    expect(code).toBe(0);
    expect(stdout).toContain('red');
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u001b\u0007]/);
  }
});
