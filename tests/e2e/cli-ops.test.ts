import type { Agent, ConnectOptions, Operation } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { acknowledge, ControlStream } from '../harness/control-stream.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { FakeServer } from '../harness/fake-server.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

interface OpJson {
  readonly op_id: string;
  readonly state: string;
  readonly control: { readonly action: string; readonly status: string; readonly reason: string } | null;
}

let gateway: TestGateway;
let home: TestHome;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await TestGateway.start({
    policies: { 'all.yaml': allowAll },
    env: { SVC_CONTROL_ACK_SECS: '2', SVC_OPS_TTL_SECS: '600' },
  });
  home = new TestHome();
  env = { REEVE_API_URL: gateway.http };
  await home.run(['login', '--api-key', bootstrapKey], { env });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(args, { env });
const json = <Data>(...args: string[]) => home.json<Data>(args, { env });

async function opOf(id: string): Promise<OpJson> {
  return (await gateway.api.get<OpJson>(`/api/v1/ops/${encodeURIComponent(id)}`, bootstrapKey)).body;
}

/** An agent that obeys controls. */
async function obedientAgent(orgId: string, count: number, options: Partial<ConnectOptions> = {}) {
  const client = connect({ address: gateway.grpc, apiKey: bootstrapKey, deadlineMs: 20_000, ...options });
  const agent = await client.register({ orgId, teamId: 'core', agentId: 'obedient' });
  const operations = await Promise.all(Array.from({ length: count }, () => startWork(agent)));
  return { ids: operations.map(({ id }) => id), [Symbol.dispose]: () => client[Symbol.dispose]() };
}

/** Work that passes a checkpoint again and again. */
async function startWork(agent: Agent): Promise<Operation> {
  const started = Promise.withResolvers<Operation>();
  const run = agent.run({ tool: 'search' }, async (operation) => {
    started.resolve(operation);
    while (!operation.signal.aborted) {
      await operation.checkpoint();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  run.catch(() => undefined);
  return started.promise;
}

describe('ops', () => {
  let bot: Registered;
  beforeAll(async () => {
    bot = await gateway.register({ orgId: 'ops', agentId: 'bot' });
  });

  test('are listed in every form, and narrowed', async () => {
    await gateway.check(bot, { traceId: 'l1', spanId: 's', runId: 'r1', summary: 'looks it up' });
    await gateway.check(bot, { traceId: 'l2', spanId: 's', runId: 'r2' });
    const { stdout, code } = await run('ops', 'list', '--org', 'ops');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^l1:s +running +ops\/core\/bot +tool_call +search +looks it up +r1/m);
    const data = await json<{ items: OpJson[]; total: number }>('ops', 'list', '--org', 'ops');
    expect(data).toMatchObject({ total: 2, next_cursor: null, items: [{ op_id: 'l2:s' }, { op_id: 'l1:s' }] });
    expect(parse((await run('ops', 'list', '--org', 'ops', '-o', 'yaml')).stdout)).toEqual(data);
    expect(await json('ops', 'list', '--run', 'r1')).toMatchObject({ total: 1, items: [{ op_id: 'l1:s' }] });
    expect(await json('ops', 'list', '--org', 'ops', '--state', 'paused')).toMatchObject({ total: 0 });
    expect((await run('ops', 'list', '--org', 'nobody')).stdout).toBe('No operations.\n');
  });

  test('are paused, resumed and terminated by id, with a reason', async () => {
    await gateway.check(bot, { traceId: 'c1', spanId: 's' });
    const paused = await run('ops', 'pause', 'c1:s', '--reason', 'looks odd');
    expect([paused.code, paused.stdout]).toEqual([0, expect.stringMatching(/^c1:s is paused; control ctl_\w+ is /)]);
    expect(await opOf('c1:s')).toMatchObject({ state: 'paused', control: { action: 'pause', reason: 'looks odd' } });
    expect(await json('ops', 'resume', 'c1:s')).toMatchObject({
      op: { state: 'running' },
      control: { action: 'resume' },
    });
    expect(await json('ops', 'terminate', 'c1:s')).toMatchObject({ op: { state: 'terminated' } });
    const again = await run('ops', 'terminate', 'c1:s');
    expect([again.code, again.stdout]).toEqual([0, 'c1:s is terminated; it was so before.\n']);
    const refused = await run('ops', 'pause', 'c1:s');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^error: .*terminated/)]);
    const unknown = await run('ops', 'pause', 'no:where');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('no:where')]);
  });

  test('of the same id are told apart by their agents', async () => {
    const twin = await gateway.register({ orgId: 'ops', agentId: 'twin' });
    await gateway.check(bot, { traceId: 'same', spanId: 's' });
    await gateway.check(twin, { traceId: 'same', spanId: 's' });
    const { code, stderr } = await run('ops', 'pause', 'same:s');
    expect(code).toBe(1);
    expect(stderr).toMatch(/ops\/core\/bot\/same:s/);
    expect(stderr).toMatch(/ops\/core\/twin\/same:s/);
    expect(await json('ops', 'pause', 'ops/core/twin/same:s')).toMatchObject({
      op: { state: 'paused', agent: { agent_id: 'twin' } },
    });
  });
});

describe('stop', () => {
  test('shows the preview, asks, and follows the receipts until they are effective', async () => {
    using agent = await obedientAgent('stopped', 3);
    const { code, stdout, stderr } = await home.run(['stop', '--org', 'stopped', '--reason', 'incident'], {
      env,
      input: 'y\n',
    });
    expect(stderr).toContain('In org stopped: 3 operations in flight. Pause would change 3.');
    expect(stderr).toContain('Pause 3 operations? [y/N]');
    expect([code, stdout]).toEqual([0, 'pause: effective for 3 of 3 operations.\n']);
    for (const id of agent.ids) {
      expect(await opOf(id)).toMatchObject({ state: 'paused', control: { status: 'effective', reason: 'incident' } });
    }
    const resumed = await json('stop', '--org', 'stopped', '--action', 'resume', '--yes');
    expect(resumed).toMatchObject({
      action: 'resume',
      scope: { org_id: 'stopped' },
      matched: 3,
      changed: 3,
      skipped: 0,
      control_id: expect.any(String),
      counts: { effective: 3 },
      receipts: [],
    });
    const ended = await run('stop', '--agent', 'stopped/core/obedient', '--action', 'terminate', '--yes');
    expect([ended.code, ended.stdout]).toEqual([0, 'terminate: effective for 3 of 3 operations.\n']);
  });

  test.each(['n\n', '\n', '', 'maybe\n'])('changes nothing when the answer is %j', async (input) => {
    using agent = await obedientAgent('asked', 1);
    const { code, stdout, stderr } = await home.run(['stop', '--org', 'asked'], { env, input });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Nothing was done.');
    expect(await opOf(agent.ids[0] ?? '')).toMatchObject({ state: 'running', control: null });
  });

  test('says for which operations it is not effective, and ends with 1', async () => {
    const deaf = await gateway.register({ orgId: 'mixed', agentId: 'deaf' });
    await gateway.check(deaf, { traceId: 'deaf', spanId: 's' });
    const bad = await gateway.register({ orgId: 'mixed', agentId: 'bad' });
    const stream = await ControlStream.open(gateway, bad);
    await gateway.check(bad, { traceId: 'bad', spanId: 's' });
    using _good = await obedientAgent('mixed', 2);
    const stopping = run('stop', '--org', 'mixed', '--yes');
    await stream.heard(1);
    await acknowledge(gateway, bad, stream.messages[0]?.sequence ?? 0, 'FAILED', 'cannot stop now');
    const { code, stdout } = await stopping;
    expect(code).toBe(1);
    expect(stdout).toMatch(/^pause: effective for 2 of 4 operations \(.*\)\. Not effective for:$/m);
    expect(stdout).toMatch(/^bad:s +mixed\/core\/bad +failed +cannot stop now$/m);
    expect(stdout).toMatch(/^deaf:s +mixed\/core\/deaf +unconfirmed/m);
    stream.cancel();
  });

  test('does not wait longer than it is told to', async () => {
    const slow = await gateway.register({ orgId: 'slow', agentId: 'slow' });
    await gateway.check(slow, { traceId: 'slow', spanId: 's' });
    const data = await home.run(['stop', '--org', 'slow', '--yes', '--wait', '0', '-o', 'json'], { env });
    expect(data.code).toBe(1);
    expect(JSON.parse(data.stdout)).toMatchObject({ changed: 1, receipts: [{ op_id: 'slow:s', status: 'requested' }] });
  });

  test('with --dry-run, and where there is nothing in scope, changes nothing and ends with 0', async () => {
    using agent = await obedientAgent('dry', 2);
    const dry = await json('stop', '--org', 'dry', '--dry-run');
    expect(dry).toEqual({
      action: 'pause',
      scope: { org_id: 'dry' },
      matched: 2,
      changed: 2,
      skipped: 0,
      control_id: null,
    });
    expect((await run('stop', '--org', 'dry', '--dry-run')).stdout).toContain(
      '2 operations in flight. Pause would change 2.',
    );
    expect(await opOf(agent.ids[0] ?? '')).toMatchObject({ state: 'running', control: null });
    await gateway.register({ orgId: 'empty', agentId: 'idle' });
    const nothing = await run('stop', '--org', 'empty');
    expect([nothing.code, nothing.stdout]).toEqual([0, 'Nothing to do.\n']);
  });

  test('of a whole org needs the scope admin', async () => {
    const { key } = await makeKey(gateway, { scopes: ['write'] });
    using other = new TestHome();
    const { code, stderr } = await other.run(['stop', '--org', 'dry', '--yes', '--api-key', key], { env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*admin/)]);
  });

  test('says the same again, under the same key, where the connection broke', async () => {
    let attempts = 0;
    await using server = await FakeServer.start(({ path, body }, response) => {
      if (path.startsWith('/api/v1/control/')) {
        return { json: { kind: 'bulk', counts: { effective: 1 }, receipts: [], next_cursor: null } };
      }
      const dryRun = (JSON.parse(body) as { dry_run: boolean }).dry_run;
      if (!dryRun && ++attempts === 1) return void response.destroy();
      return {
        status: dryRun ? 200 : 202,
        json: { matched: 1, changed: 1, skipped: 0, control_id: dryRun ? null : 'ctl_1' },
      };
    });
    using other = new TestHome();
    const { code, stdout } = await other.run(['stop', '--run', 'r', '--yes', '--api-url', server.url]);
    const later = 'Later checks of run r are denied, until it is resumed.';
    expect([code, stdout]).toEqual([0, `pause: effective for 1 of 1 operation.\n${later}\n`]);
    const keys = server.to('/api/v1/control').map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toEqual([undefined, expect.any(String), keys[1]]);
  });

  test('asks on a terminal, too, and shows how far it is', async () => {
    using _agent = await obedientAgent('seen', 1);
    const deaf = await gateway.register({ orgId: 'seen', agentId: 'deaf' });
    await gateway.check(deaf);
    await using cli = home.startOnTerminal(['stop', '--org', 'seen'], { env });
    await cli.says(/Pause 2 operations\? \[y\/N\] $/);
    cli.type('yes\r');
    await cli.says(/1 of 2 operations effective: /);
    await cli.ended();
    expect(cli.child.exitCode).toBe(1);
    expect(cli.stdout).toContain('pause: effective for 1 of 2 operations');
  });
});

describe('logs --follow', () => {
  test('shows the newest entries and then every one that comes, once, until it is interrupted', async () => {
    const bot = await gateway.register({ orgId: 'follow', agentId: 'bot' });
    await gateway.check(bot, { traceId: 'f0', spanId: 's' });
    await using cli = home.start(['logs', '--follow', '--org', 'follow', '--output', 'json'], { env });
    await cli.says(/"f0:s"/);
    for (let at = 1; at <= 5; at++) await gateway.check(bot, { traceId: `f${at}`, spanId: 's' });
    // This entry comes without an event.
    await makeKey(gateway, { org_id: 'follow' });
    await cli.says(/ApiKeyCreated/);
    cli.child.kill('SIGINT');
    await cli.ended();
    expect([cli.child.exitCode, cli.stderr]).toEqual([0, '']);
    const entries = cli.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; op_id: string | null; event_type: string });
    expect(entries.flatMap(({ op_id: id }) => id ?? [])).toEqual(['f0:s', 'f1:s', 'f2:s', 'f3:s', 'f4:s', 'f5:s']);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq).toSorted((a, b) => a - b));
  });

  test('shows lines that a person can read, and keeps to its filters', async () => {
    const bot = await gateway.register({ orgId: 'lines', agentId: 'bot' });
    await using cli = home.start(['logs', '-f', '--org', 'lines', '--event-type', 'ActionAllowed'], { env });
    await eventually(async () => {
      await gateway.check(bot);
      expect(cli.stdout).toMatch(/^ *\d+ +\S+Z +ActionAllowed +lines\/core\/bot +allow/m);
    }, 40);
    cli.child.kill('SIGTERM');
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
    expect(cli.stdout).not.toContain('AgentRegistered');
  });

  test('goes on when the gateway was away, and misses nothing', async () => {
    await using own = await restartable();
    using other = new TestHome();
    await using cli = other.start(['logs', '--follow', '-o', 'json'], { env: own.env });
    await cli.says(/PolicyReloaded/);
    await own.restart();
    const bot = await own.gateway.register({ agentId: 'bot' });
    await own.gateway.check(bot, { traceId: 'after', spanId: 's' });
    await cli.says(/"after:s"/);
    cli.child.kill('SIGINT');
    await cli.ended();
    const seqs = cli.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, at) => (seqs[0] ?? 0) + at));
  });

  test('ends with an error where the credential ends', async () => {
    const { key, id } = await makeKey(gateway);
    using other = new TestHome();
    await using cli = other.start(['logs', '--follow', '--api-key', key], { env });
    await cli.says(/ApiKeyCreated/);
    await gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey);
    await cli.ended();
    expect(cli.child.exitCode).toBe(1);
    expect(cli.stderr).toMatch(/authentication required.*reeve login/s);
  });
});

describe('ops watch', () => {
  test('writes a line for each operation and each change where there is no terminal', async () => {
    const bot = await gateway.register({ orgId: 'watch', agentId: 'bot' });
    await gateway.check(bot, { traceId: 'w1', spanId: 's' });
    await using cli = home.start(['ops', 'watch', '--org', 'watch'], { env });
    await cli.says(/^\S+Z +running +watch\/core\/bot +w1:s +tool_call +search/m);
    await run('ops', 'pause', 'w1:s');
    await cli.says(/paused +watch\/core\/bot +w1:s .*pause/);
    await gateway.check(bot, { traceId: 'w2', spanId: 's' });
    await cli.says(/running +watch\/core\/bot +w2:s/);
    cli.child.kill('SIGINT');
    await cli.ended();
    expect([cli.child.exitCode, cli.stderr]).toEqual([0, '']);
  });

  test('writes JSON for programs, and keeps to its filters', async () => {
    const bot = await gateway.register({ orgId: 'watch', agentId: 'other' });
    await using cli = home.start(['ops', 'watch', '--agent', 'other', '--run', 'mine', '-o', 'json'], { env });
    await eventually(async () => {
      await gateway.check(bot, { runId: 'theirs' });
      await gateway.check(bot, { runId: 'mine' });
      expect(cli.stdout).toContain('"mine"');
    }, 40);
    cli.child.kill('SIGINT');
    await cli.ended();
    const ops = cli.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { run_id: string });
    expect(new Set(ops.map(({ run_id: id }) => id))).toEqual(new Set(['mine']));
  });

  test('opens the stream again when it was lost', async () => {
    await using own = await restartable();
    using other = new TestHome();
    await using cli = other.start(['ops', 'watch'], { env: own.env });
    const before = await own.gateway.register({ agentId: 'bot' });
    await eventually(async () => {
      await own.gateway.check(before, { traceId: 'before', spanId: 's' });
      expect(cli.stdout).toContain('before:s');
    }, 40);
    await own.restart();
    const bot = await own.gateway.register({ agentId: 'bot' });
    await own.gateway.check(bot, { traceId: 'after', spanId: 's' });
    await cli.says(/after:s/);
    expect(cli.stderr).toContain('Connecting again.');
    cli.child.kill('SIGINT');
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
    expect(cli.stdout.match(/running .*before:s/g)).toHaveLength(1);
  });

  test('fills a terminal, controls the chosen operation after a question, and gives the terminal back', async () => {
    const bot = await gateway.register({ orgId: 'screen', agentId: 'bot' });
    await gateway.check(bot, { traceId: 'first', spanId: 's', summary: 'sn\u001b[31meaky' });
    await gateway.check(bot, { traceId: 'second', spanId: 's' });
    await using cli = home.startOnTerminal(['ops', 'watch', '--org', 'screen'], {
      env: { ...env, NO_COLOR: '1' },
      columns: 140,
      rows: 12,
      afterwards: 'stty -a',
    });
    await cli.says(/> [^\n]*second:s/);
    expect(cli.stdout).toContain('\u001b[?1049h');
    expect(cli.stdout).toContain('sn[31meaky');
    cli.type('\u001b[B');
    await cli.says(/> [^\n]*first:s/);
    cli.type('p');
    await cli.says(/pause first:s of screen\/core\/bot\? y or n/);
    cli.type('n');
    cli.type('p');
    cli.type('y');
    await cli.says(/first:s is paused\./);
    expect(await opOf('first:s')).toMatchObject({ state: 'paused' });
    expect(await opOf('second:s')).toMatchObject({ state: 'running' });
    cli.type('ry');
    await cli.says(/first:s is running\./);
    cli.type('ty');
    await cli.says(/first:s is terminated\./);
    cli.type('py');
    await gateway.check(bot, { traceId: 'third', spanId: 's' });
    await cli.says(/third:s/);
    cli.type('q');
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
    const [, after = ''] = cli.stdout.split('\u001b[?1049l');
    expect(after).toMatch(/\becho\b/);
    expect(after).not.toMatch(/-echo\b/);
    expect(cli.stdout).toContain('\u001b[?25h');
  });

  test('ends with Ctrl-C and gives the terminal back', async () => {
    await using cli = home.startOnTerminal(['ops', 'watch', '--org', 'nobody'], { env });
    await cli.says(/No operations\./);
    cli.type('\u0003');
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
    expect(cli.stdout).toContain('\u001b[?1049l');
  });

  test('that cannot begin says why on a terminal as it was', async () => {
    await using cli = home.startOnTerminal(['ops', 'watch', '--api-url', 'http://127.0.0.1:9']);
    await cli.ended();
    expect(cli.child.exitCode).toBe(1);
    const [, after = ''] = cli.stdout.split('\u001b[?1049l');
    expect(after).toContain('cannot reach http://127.0.0.1:9');
  });
});

/** A gateway on its own port that can be restarted there. */
async function restartable() {
  const { createServer } = await import('node:net');
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  const options = { policies: { 'all.yaml': allowAll }, args: ['--http', `127.0.0.1:${port}`] };
  const own = { gateway: await TestGateway.start(options) };
  return {
    own,
    get gateway() {
      return own.gateway;
    },
    env: { REEVE_API_URL: `http://127.0.0.1:${port}`, REEVE_API_KEY: bootstrapKey },
    restart: async () => {
      own.gateway = await own.gateway.restart('SIGKILL', options);
    },
    [Symbol.asyncDispose]: () => own.gateway[Symbol.asyncDispose](),
  };
}
