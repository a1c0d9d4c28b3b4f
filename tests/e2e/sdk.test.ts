import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer, ConnectOptions, ReeveErrorCode } from '@reeve/sdk';
import { connect, usd } from '@reeve/sdk';
import { expect, test } from 'vitest';
import type { LoggedEntry } from '../harness/audit-log.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

const policy = `
name: starter
rules:
  - { name: reading, effect: allow, tools: [search, "read_*"] }
  - { name: models, effect: allow, actions: [llm_call] }
  - { name: no-deletes, effect: deny, tools: ["delete_*"] }
`;

const id = { orgId: 'acme', teamId: 'support', agentId: 'bot' };

function client(gateway: TestGateway, options: Partial<ConnectOptions> = {}) {
  return connect({ address: gateway.grpc, apiKey: bootstrapKey, deadlineMs: 40_000, ...options });
}

test('an agent lives its life through the SDK, and it is all on record', async () => {
  await using gateway = await TestGateway.start({ policies: { 'starter.yaml': policy } });
  using reeve = client(gateway);
  const agent = await reeve.register({ ...id, name: 'Bot', framework: 'none', metadata: { stage: 'test' } });
  const search = await agent.check({ tool: 'search', args: { q: 'x' } }, { traceId: 't', spanId: 's', runId: 'r1' });
  expect(search).toMatchObject({
    decision: 'allow',
    policyRule: 'starter/reading',
    opId: 't:s',
    opState: 'running',
    source: 'gateway',
  });
  await agent.complete(search.opId, { actualCostMicros: 0, detail: 'two pages' });
  const deletion = await agent.check({ tool: 'delete_all' });
  expect(deletion).toMatchObject({ decision: 'deny', policyRule: 'starter/no-deletes', opState: 'terminated' });
  const call = { type: 'llm_call', model: 'm', promptTokens: 10 } as const;
  await agent.run(call, ({ spent }) => spent(usd('0.0007')), { estimatedCostMicros: usd('0.0011') });
  expect(await agent.heartbeat()).toMatchObject({ suspended: false, policyVersion: expect.stringMatching(/./) });
  await agent.deregister('done');

  const log = gateway.audit().filter((entry) => entry.lineage.agent_id === id.agentId);
  expect(log.map((entry) => entry.event_type)).toEqual([
    'AgentRegistered',
    'ActionAllowed',
    'OpStateChanged',
    'ActionDenied',
    'ActionAllowed',
    'OpStateChanged',
    'AgentDeregistered',
  ]);
  expect(log[1]).toMatchObject({ op_id: 't:s', payload: { run_id: 'r1', action: { args: { q: 'x' } } } });
  expect(log[5]).toMatchObject({ payload: { outcome: 'succeeded', reserved_micros: 1100, cost_micros: 700 } });
});

test('every mistake is an error of its kind', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway);
  const token = 'the-first-agents-own-token-0123456789';
  const agent = await reeve.register({ ...id, token });
  const { opId } = await agent.check({ tool: 'search' });
  await agent.complete(opId);
  using stranger = client(gateway, { apiKey: bootstrapKey.replace('rvk_', 'not-a-key-') });
  using streaming = client(gateway, { pipeline: 'always' });
  const streamed = streaming.attach({ ...id, token });
  const long = { runId: 'x'.repeat(129) };

  const mistakes: readonly (readonly [() => Promise<unknown>, ReeveErrorCode, RegExp])[] = [
    [() => stranger.register(id), 'unauthenticated', /credential/],
    [() => reeve.register({ ...id, agentId: 'other', token }), 'token_in_use', /in use/],
    [() => reeve.register({ ...id, agentId: 'not an id' }), 'invalid_request', /^agent_id/],
    [() => reeve.register({ ...id, parent: { orgId: 'rival', agentId: 'x' } }), 'invalid_request', /^parent_agent_id/],
    [() => agent.complete('no:op'), 'op_not_found', /./],
    [() => agent.complete(opId), 'invalid_transition', /./],
    [() => agent.check({ tool: 'search' }, long), 'invalid_request', /^run_id/],
    [() => streamed.check({ tool: 'search' }, long), 'invalid_request', /^run_id/],
    [
      () => agent.checkMany([{ action: { tool: 'a' } }, { action: { tool: 'b' }, ...long }]),
      'invalid_request',
      /^checks\[1\]\.run_id/,
    ],
    [
      () => reeve.attach({ ...id, token: 'somebody-elses' }).complete(opId),
      'unauthenticated',
      /credential token mismatch/,
    ],
  ];
  for (const [make, code, message] of mistakes) {
    await expect(make()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  }
});

test('many checks in a batch, each judged on its own', async () => {
  await using gateway = await TestGateway.start({ policies: { 'starter.yaml': policy } });
  using reeve = client(gateway);
  const agent = await reeve.register(id);
  const checks = Array.from({ length: 1200 }, (_, i) => ({ action: { tool: i % 2 === 0 ? 'search' : 'delete_it' } }));
  const answers = await agent.checkMany(checks);
  expect(answers.map((answer) => answer.allowed)).toEqual(checks.map((_, i) => i % 2 === 0));
});

test('an agent that is registered again elsewhere is denied here, and told', async () => {
  const env = { SVC_HEARTBEAT_INTERVAL_SECS: '1' };
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  using reeve = client(gateway);
  let told = 0;
  const first = await reeve.register({ ...id, onRevoked: () => told++ });
  const second = await reeve.register(id);
  expect(first.created && !second.created).toBe(true);
  expect(await first.check({ tool: 'search' })).toMatchObject({ decision: 'deny', policyRule: 'identity', opId: '' });
  expect(await second.check({ tool: 'search' })).toMatchObject({ decision: 'allow' });
  await eventually(() => expect(told).toBe(1));
  expect([first.revoked, second.revoked]).toEqual([true, false]);
});

test.each([
  ['killed', 'SIGKILL', 'auto'],
  ['killed', 'SIGKILL', 'never'],
  ['stopped', 'SIGTERM', 'always'],
] as const)(
  'a gateway %s by %s and started again (pipeline: %s) loses no check and decides none twice',
  async (_, signal, pipeline) => {
    const before = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    await using after = await (async () => {
      using reeve = client(before, { pipeline });
      const agent = await reeve.register(id);
      const answers: Answer[] = [];
      let restarted: Promise<TestGateway> | undefined;
      const work = async (worker: number) => {
        for (let i = 0; i < 25; i++) {
          answers.push(await agent.check({ tool: 'search', args: { worker, i } }));
          if (answers.length === 60) restarted = before.restart(signal, { args: ['--grpc', before.grpc] });
        }
      };
      // As many workers as the retry budget has retries, if each check is retried alone.
      const workers = pipeline === 'never' ? 10 : 40;
      await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
      if (restarted === undefined) throw new Error('the gateway was never restarted');
      const gateway = await restarted;

      expect(answers).toHaveLength(workers * 25);
      for (const answer of answers) expect(answer).toMatchObject({ allowed: true, source: 'gateway' });
      const decided = gateway.audit().filter((entry) => entry.event_type === 'ActionAllowed' && !isReplay(entry));
      expect(decided).toHaveLength(answers.length);
      expect(new Set(decided.map((entry) => entry.op_id))).toEqual(new Set(answers.map(({ opId }) => opId)));

      await Promise.all(answers.slice(0, 10).map(({ opId }) => agent.complete(opId)));
      return gateway;
    })();
    expect(after.grpc).toBe(before.grpc);
  },
);

test('while the gateway is gone everything is denied, and once it is back the same agent goes on', async () => {
  const before = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(before);
  const agent = await reeve.register(id);
  await before.kill();
  expect(await agent.check({ tool: 'search' }, { deadlineMs: 500 })).toMatchObject({ decision: 'deny', source: 'sdk' });
  const [one, two] = await agent.checkMany([{ action: { tool: 'a' } }, { action: { tool: 'b' } }], { deadlineMs: 500 });
  expect([one, two]).toMatchObject([{ source: 'sdk' }, { source: 'sdk' }]);
  await using after = await TestGateway.start({ folder: before.folder, args: ['--grpc', before.grpc] });
  expect(await agent.check({ tool: 'search' })).toMatchObject({ decision: 'allow', source: 'gateway' });
  expect(after.audit().filter((entry) => entry.event_type === 'ActionAllowed')).toHaveLength(1);
});

test('an operation that was allowed too late is called off, at no cost', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  using reeve = client(gateway, { pipeline: 'always' });
  const agent = await reeve.register(id);
  await agent.check({ tool: 'search' });
  gateway.child.kill('SIGSTOP');
  const answer = await agent.check({ tool: 'search' }, { deadlineMs: 300, estimatedCostMicros: 5000 });
  gateway.child.kill('SIGCONT');
  expect(answer).toMatchObject({ allowed: false, source: 'sdk' });
  await agent.heartbeat();
  const story = gateway.audit().filter((entry) => entry.op_id === answer.opId);
  expect(story).toMatchObject([
    { event_type: 'ActionAllowed', payload: { cost_micros: 5000 } },
    { event_type: 'OpStateChanged', payload: { outcome: 'cancelled', to: 'completing', cost_micros: 0 } },
  ]);
});

test('TLS, with the authority that is trusted and no other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-sdk-tls-'));
  try {
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const subject = ['-subj', '/CN=reeve.test', '-addext', 'subjectAltName=DNS:reeve.test'];
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'pipe' });
    const env = { SVC_TLS_CERT: cert, SVC_TLS_KEY: key };
    await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
    using trusting = client(gateway, { tls: { ca: readFileSync(cert), serverName: 'reeve.test' } });
    const agent = await trusting.register(id);
    expect(await agent.check({ tool: 'search' })).toMatchObject({ allowed: true });
    const forgetful = `
      import { readFileSync } from 'node:fs';
      import { connect } from '@reeve/sdk';
      const tls = { ca: readFileSync('${cert}'), serverName: 'reeve.test' };
      const reeve = connect({ address: '${gateway.grpc}', apiKey: '${bootstrapKey}', tls });
      const events = [];
      const agent = await reeve.register({ agentId: 'forgetful', onConnection: ({ type }) => events.push(type) });
      while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      console.log(...events, await agent.run({ tool: 'search' }, () => 'done'));`;
    expect(await runNode(['--input-type=module'], {}, forgetful)).toEqual({
      code: 0,
      stdout: 'connected done\n',
      stderr: '',
    });
    for (const tls of [true, false, { ca: readFileSync(cert) }]) {
      using wary = client(gateway, { tls, retry: { burst: 0 } });
      await expect(wary.register(id)).rejects.toMatchObject({ code: 'unavailable' });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the example runs as it says', async () => {
  await using gateway = await TestGateway.start({ args: ['--policy', 'examples/policies'] });
  const env = { REEVE_GRPC_ADDR: gateway.grpc, REEVE_API_KEY: bootstrapKey };
  const { code, stdout } = await runNode(['examples/hello-agent.ts'], env);
  expect(stdout).toMatch(/^allow +search_docs/m);
  expect(stdout).toMatch(/^deny +delete_customer/m);
  expect(stdout).toMatch(/^allow +gpt-5-mini/m);
  expect(code).toBe(0);
  expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'AgentDeregistered' });

  const withoutKey = await runNode(['examples/hello-agent.ts'], { ...env, REEVE_API_KEY: '' });
  expect(withoutKey).toMatchObject({ code: 1, stderr: expect.stringContaining('REEVE_API_KEY') });
  await gateway.kill();
  const withoutGateway = await runNode(['examples/hello-agent.ts'], env);
  expect(withoutGateway).toMatchObject({ code: 1, stderr: expect.stringContaining('npm start') });
});

test('every piece of the guides runs', async () => {
  await using gateway = await TestGateway.start({ args: ['--policy', 'examples/policies'] });
  const [guide = '', stopping = ''] = ['sdk', 'stopping-agents'].map((name) =>
    readFileSync(`docs/guides/${name}.md`, 'utf8').replaceAll('127.0.0.1:50051', gateway.grpc),
  );
  const [complete = '', ...pieces] = [...piecesOf(guide), ...piecesOf(stopping)];
  expect(pieces.length).toBeGreaterThan(10);
  const env = { REEVE_API_KEY: bootstrapKey };
  expect(await runNode(['--input-type=module-typescript'], env, complete)).toMatchObject({ code: 0, stderr: '' });
  const program = [
    "import { randomBytes } from 'node:crypto';",
    "import { setTimeout } from 'node:timers/promises';",
    "import type { Operation } from '@reeve/sdk';",
    "import { ActionDeniedError, connect, ResultDenied, usd } from '@reeve/sdk';",
    'const readCustomer = async (id: number) => ({ id });',
    `const reeve = connect({ address: '${gateway.grpc}', apiKey: process.env.REEVE_API_KEY });`,
    "const agent = await reeve.register({ orgId: 'acme', teamId: 'support', agentId: 'bot-1' });",
    // Nobody vouches for users here, so the check is denied.
    "const tokenOfAnn = 'a.b.c';",
    ...pieces.map((piece) => `{\n${piece}}`),
    'reeve.close();',
  ];
  const { code, stdout, stderr } = await runNode(['--input-type=module-typescript'], env, program.join('\n'));
  expect(stderr).toBe('');
  expect(stdout).toContain('Refunds take five days.');
  expect(stdout).toContain("[ 'allow', 'deny' ]");
  expect(stdout).toContain("[ 'refunds.md' ]");
  expect(stdout).toContain('3 pages');
  expect(code).toBe(0);
});

function piecesOf(guide: string): string[] {
  return [...guide.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
}

function isReplay(entry: LoggedEntry): boolean {
  return entry.payload['replay'] === true;
}

function runNode(args: readonly string[], env: Readonly<Record<string, string>>, stdin = '') {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const options = { env: { ...process.env, ...env } };
    const child = execFile('node_modules/.bin/node', args, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end(stdin);
  });
}
