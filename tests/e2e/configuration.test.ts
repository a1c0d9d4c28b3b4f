import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { paths, RegisterAgentRequest, RegisterAgentResponse } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey, runServe, TestGateway } from '../harness/gateway.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const anyPorts = ['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'];

function configFile(text: string): string {
  const file = join(folder, 'reeve.yaml');
  writeFileSync(file, text);
  return file;
}

test.each<[string, string[], Record<string, string>, RegExp]>([
  ['a bad address', ['--http', 'nowhere'], {}, /^reeve serve: --http: "nowhere" is not accepted; accepted: host:port/],
  [
    'a bad number',
    [],
    { SVC_OPS_TTL_SECS: 'soon' },
    /SVC_OPS_TTL_SECS: "soon" is not accepted; accepted: a number of seconds/,
  ],
  ['a bad choice', [], { SVC_LOG_LEVEL: 'loud' }, /SVC_LOG_LEVEL: "loud" is not accepted; accepted: fatal, error/],
  [
    'an unknown variable',
    [],
    { SVC_OPS_TTL_SEC: '5' },
    /unknown setting SVC_OPS_TTL_SEC in the environment; did you mean SVC_OPS_TTL_SECS\?/,
  ],
  [
    'a certificate that is none',
    [],
    { SVC_TLS_CERT: 'package.json', SVC_TLS_KEY: 'package.json' },
    /SVC_TLS_CERT, SVC_TLS_KEY: not a certificate and its key in PEM/,
  ],
  ['a certificate without its key', [], { SVC_TLS_CERT: '/dev/null' }, /SVC_TLS_KEY is not; TLS needs both/],
  ['a database of another kind', ['--database', 'mysql://x'], {}, /--database: the value given is not accepted/],
  [
    'a database URL that asks for something unknown',
    ['--database', 'postgres://u:secret@h/d?sslmode=maybe'],
    {},
    /--database: the value given is not accepted; accepted: "memory:" or postgres:\/\/.*sslmode=… with one of disable, /,
  ],
  [
    'NATS without PostgreSQL',
    [],
    { SVC_NATS_URL: 'nats://u:secret@127.0.0.1:4222' },
    /SVC_NATS_URL needs a PostgreSQL SVC_DATABASE_URL/,
  ],
  [
    'NATS servers with different kinds of credentials',
    [],
    { SVC_NATS_URL: 'nats://u:secret@a,nats://secret@b' },
    /SVC_NATS_URL: the value given is not accepted; accepted: nats:\/\/.*the same kind of credentials/,
  ],
  [
    'credentials for NATS that are not there',
    [],
    { SVC_NATS_URL: 'tls://a', SVC_NATS_CREDS: '/nowhere.creds' },
    /SVC_NATS_CREDS: cannot read the credentials: ENOENT.*\/nowhere\.creds/,
  ],
  [
    'a takeover before anybody can be missed',
    [],
    { SVC_TAKEOVER_SECS: '1' },
    /SVC_TAKEOVER_SECS: "1" is not accepted; accepted: a whole number from 2 to 3600/,
  ],
  [
    'a proxy that is no address',
    [],
    { SVC_TRUSTED_PROXIES: '10.0.0.0/8, banana' },
    /SVC_TRUSTED_PROXIES: "10.0.0.0\/8, banana" is not accepted; accepted: addresses or networks/,
  ],
  [
    'a policy path that is not there',
    ['--policy', '/nowhere/at/all'],
    {},
    /--policy: "\/nowhere\/at\/all" is not accepted; accepted: a YAML file, or a folder of them, that exists/,
  ],
  [
    'a policy path in the environment that is not there',
    [],
    { SVC_POLICY: '/nope/x.yaml' },
    /SVC_POLICY: "\/nope\/x\.yaml" is not accepted; accepted: a YAML file, or a folder of them, that exists/,
  ],
  [
    'a configuration file that is not there',
    ['--config', '/nowhere.yaml'],
    {},
    /--config: cannot read \/nowhere\.yaml/,
  ],
])('%s stops the start with one clear line and exit 2', async (_what, args, env, message) => {
  const { code, stdout, stderr } = await runServe(['--data', join(folder, 'unused'), ...args], env);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr.trim()).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).not.toContain('secret@');
});

test('mail settings that are wrong stop no start: a warning names each, and letters are only logged', async () => {
  for (const [env, warning] of [
    [{ SVC_SMTP_HOST: 'mail.example.com', SVC_SMTP_PORT: '99999' }, 'SVC_SMTP_PORT'],
    [{ SVC_SMTP_HOST: 'mail.example.com', SVC_SMTP_TLS: 'banana' }, 'SVC_SMTP_TLS'],
    [{ SVC_SMTP_PORT: 'abc' }, 'SVC_SMTP_PORT'],
  ] as const) {
    await using gateway = await TestGateway.start({ env });
    expect((await gateway.ready()).body.status).toBe('ok');
    const warned = gateway
      .output()
      .stderr.split('\n')
      .filter((line) => line.includes('no mail will be sent'));
    expect(warned).toEqual([expect.stringContaining(`${warning}: the value given is not accepted; accepted: `)]);
  }
});

test('a bad bootstrap key is refused without being shown', async () => {
  const typo = bootstrapKey.replace('abcdefghijkl', 'abcdefghijkm');
  const { code, stderr } = await runServe([], { SVC_BOOTSTRAP_API_KEY: typo });
  expect(code).toBe(2);
  expect(stderr).toContain('checksum');
  expect(stderr).not.toContain(typo);
});

test.each([
  ['an unknown key', 'htp_addr: 127.0.0.1:0\n', /unknown setting "htp_addr" in .*; did you mean http_addr\?/],
  ['a list', 'http_addr: [1]\n', /http_addr in .*: must be one value/],
  ['a text that is no mapping', 'just words\n', /must be a mapping/],
  ['broken YAML', 'a: [\n', /cannot read/],
  ['a bad value', 'ops_durable: perhaps\n', /ops_durable in .*: "perhaps" is not accepted; accepted: true or false/],
])('%s in the configuration file stops the start', async (_what, text, message) => {
  const { code, stderr } = await runServe(['--config', configFile(text)]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test('an unknown option is a usage error', async () => {
  const { code, stderr } = await runServe(['--htp', 'x']);
  expect(code).toBe(2);
  expect(stderr).toContain('--htp');
});

test('flag before environment before file before default', async () => {
  const file = configFile('heartbeat_interval_secs: 7\nlog_level: fatal\n');
  const env = { SVC_HEARTBEAT_INTERVAL_SECS: '9' };
  await using fromFile = await TestGateway.start({ args: ['--config', file] });
  expect(await interval(fromFile)).toBe(7);
  await using fromEnvironment = await TestGateway.start({ args: ['--config', file], env });
  expect(await interval(fromEnvironment)).toBe(9);
  const elsewhere = join(folder, 'by-flag');
  await using byFlag = await TestGateway.start({
    args: ['--data', elsewhere],
    env: { SVC_DATA_DIR: join(folder, 'by-variable') },
  });
  expect(byFlag.grpc).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(existsSync(join(elsewhere, 'reeve.db'))).toBe(true);
  expect(existsSync(join(folder, 'by-variable'))).toBe(false);
});

async function interval(gateway: TestGateway): Promise<number> {
  const request: RegisterAgentRequest = {
    agentId: { orgId: '', teamId: '', agentId: 'a' },
    credentialToken: '',
    name: '',
    framework: '',
    version: '',
    parentAgentId: undefined,
    metadata: {},
    toolNames: [],
  };
  const options = { authorization: `Bearer ${bootstrapKey}` };
  const answer = await gateway.client.call(
    paths.registerAgent,
    RegisterAgentRequest,
    RegisterAgentResponse,
    request,
    options,
  );
  return answer.heartbeatIntervalSecs;
}

test('an empty variable counts as unset, and what is no clear yes to open registration as no', async () => {
  await using gateway = await TestGateway.start({
    env: { SVC_LOG_LEVEL: '', SVC_APPROVAL_TTL_SECS: '', SVC_AUTH_OPEN_REGISTRATION: 'perhaps' },
  });
  expect((await gateway.ready()).status).toBe(200);
});

test('the data folder is private, and a second gateway on it is refused with who has it', async () => {
  await using gateway = await TestGateway.start();
  expect(statSync(gateway.folder).mode & 0o777).toBe(0o700);
  const { code, stderr } = await runServe([...anyPorts, '--data', gateway.folder]);
  expect(code).toBe(1);
  expect(stderr).toContain(`is in use by another gateway (process ${gateway.child.pid})`);
  const agent = await gateway.register({ agentId: 'still-serving' });
  expect(await gateway.check(agent)).toMatchObject({ reason: 'no policy loaded' });
});

test('a data folder that cannot be written is refused with a clear line', async () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  const { code, stderr } = await runServe([...anyPorts, '--data', join(file, 'below')]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/cannot use the data folder .*ENOTDIR/);
});

test('a data folder without write permission is refused', async () => {
  // Not even root can create folders there.
  const { code, stderr } = await runServe([...anyPorts, '--data', '/sys/reeve']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/cannot use the data folder \/sys\/reeve: E(ACCES|PERM|ROFS)/);
});

test('a start that fails keeps no admin key that nobody was shown', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => {
    blocker.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = blocker.address() as { port: number };
  const data = join(folder, 'half-started');
  const failed = await runServe([...anyPorts, '--data', data, '--http', `127.0.0.1:${port}`]);
  blocker.close();
  expect(failed.code).toBe(1);
  expect(failed.stderr).not.toContain('rvk_');
  await using gateway = await TestGateway.start({ folder: data, env: { SVC_BOOTSTRAP_API_KEY: '' } });
  expect(gateway.output().stderr).toMatch(/^Admin API key, shown only this once: rvk_\S+$/m);
});

test('a port in use is refused, naming the port and the option', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => {
    blocker.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = blocker.address() as { port: number };
  try {
    for (const option of ['--http', '--grpc']) {
      const { code, stderr } = await runServe([
        ...anyPorts,
        '--data',
        join(folder, 'port'),
        option,
        `127.0.0.1:${port}`,
      ]);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        new RegExp(`cannot listen for (HTTP|gRPC) on 127\\.0\\.0\\.1:${port}.*choose another with ${option}`),
      );
    }
  } finally {
    blocker.close();
  }
});

test('without a key one is made and printed exactly once, as a plain line on stderr', async () => {
  const data = join(folder, 'first-run');
  const start = () => TestGateway.start({ folder: data, env: { SVC_BOOTSTRAP_API_KEY: '' } });
  const printed = (gateway: TestGateway) => gateway.output().stderr.match(/rvk_[a-z2-7]{12}_[0-9A-Za-z]{46}/g) ?? [];
  const first = await start();
  expect(first.output().stderr).toMatch(/^Admin API key, shown only this once: rvk_\S+$/m);
  expect(printed(first)).toHaveLength(1);
  await first.kill('SIGTERM');
  const second = await start();
  expect(printed(second)).toHaveLength(0);
  expect(second.output().stderr).toContain(
    `An admin API key was made before. If it is lost, run: reeve keys bootstrap --data '${data}'\n`,
  );
  expect(first.output().stderr).not.toContain('keys bootstrap');
  await second.kill('SIGTERM');
});

describe('reeve keys bootstrap', () => {
  test('makes an admin key in the store of a stopped gateway, shown once and on record', async () => {
    using home = new TestHome();
    const data = join(folder, 'lost-key');
    const before = await TestGateway.start({ folder: data });
    const bootstrap = ['keys', 'bootstrap', '--data', data];
    await before.kill('SIGTERM');
    expect(existsSync(join(data, 'gateway.sock'))).toBe(false);
    const { key, id } = await home.json<{ key: string; id: string }>(bootstrap);
    const shown = await home.run(bootstrap);
    expect(shown.stdout).toMatch(/^Key +rvk_\S+$/m);
    expect(shown.stderr).toContain('it is not shown again');
    await using after = await TestGateway.start({ folder: data });
    const { status, body } = await after.api.get<{ items: { id: string; scopes: string[] }[] }>(
      '/api/v1/iam/api-keys',
      key,
    );
    expect(status).toBe(200);
    expect(body.items.find((each) => each.id === id)?.scopes).toEqual(['read', 'write', 'admin']);
    const made = after.audit().filter((entry) => entry.reason === 'reeve keys bootstrap');
    expect(made).toHaveLength(2);
    expect(made.find((entry) => entry.payload['key_id'] === id)).toMatchObject({
      event_type: 'ApiKeyCreated',
      actor: { kind: 'system' },
      payload: { label: 'admin', scopes: ['read', 'write', 'admin'] },
    });
    expect(JSON.stringify(after.audit())).not.toContain(key.slice(17));
  });

  test('makes one by the socket of a gateway that runs, which nobody else can use, and on record alike', async () => {
    using home = new TestHome();
    // Longer than the address of a socket can be.
    const data = join(folder, 'long'.repeat(30), 'running');
    const before = await TestGateway.start({ folder: data });
    await before.kill('SIGKILL');
    expect(lstatSync(join(data, 'gateway.sock')).isSocket()).toBe(true);
    await using gateway = await TestGateway.start({ folder: data });
    const socket = lstatSync(join(data, 'gateway.sock'));
    expect([socket.isSocket(), socket.mode & 0o777]).toEqual([true, 0o600]);
    const { key, id } = await home.json<{ key: string; id: string }>(['keys', 'bootstrap', '--data', data]);
    const me = await gateway.api.get<{ scopes: string[]; org_id: null }>('/api/v1/auth/me', key);
    expect(me.body).toMatchObject({ scopes: ['read', 'write', 'admin'], org_id: null });
    expect(gateway.audit().filter((entry) => entry.reason === 'reeve keys bootstrap')).toMatchObject([
      { event_type: 'ApiKeyCreated', actor: { kind: 'system' }, payload: { key_id: id, label: 'admin' } },
    ]);
    const { stdout, stderr } = gateway.output();
    expect(JSON.stringify([stdout, stderr, gateway.audit()])).not.toContain(key.slice(17));
  });

  test('is the one thing that the socket does, for a few at a time, and not for long', {
    timeout: 60_000,
  }, async () => {
    await using gateway = await TestGateway.start({ folder: join(folder, 'socket') });
    const path = join(gateway.folder, 'gateway.sock');
    const refusal = '{"error":"this socket takes one command: keys bootstrap"}\n';
    for (const text of [
      'x',
      'keys bootstrap --org acme\n',
      'keys bootstrap\nkeys bootstrap\n',
      'x'.repeat(1_000_000),
    ]) {
      expect(await askSocket(path, text)).toBe(refusal);
    }
    // Those who say nothing are sent away, and then others are heard again.
    const silent = Array.from({ length: 20 }, () => askSocket(path, 'keys boot'));
    expect(await Promise.all(silent)).toEqual(silent.map(() => ''));
    expect(await askSocket(path, 'keys bootstrap\n')).toContain('"key":"rvk_');
    expect(gateway.audit().filter((entry) => entry.reason === 'reeve keys bootstrap')).toHaveLength(1);
  });

  test('asks nobody but the owner of the folder: another socket there is refused, a gateway in its way starts', async () => {
    using home = new TestHome();
    const data = join(folder, 'foreign');
    mkdirSync(join(data, 'gateway.sock', 'in-the-way'), { recursive: true });
    const gateway = await TestGateway.start({ folder: data });
    expect(gateway.output().stdout + gateway.output().stderr).toContain('there is no socket in the data folder');
    const bootstrap = ['keys', 'bootstrap', '--data', data];
    expect((await home.run(bootstrap)).stderr).toBe(
      `error: ${data}/gateway.sock is no socket; nothing was asked there\n`,
    );
    rmSync(join(data, 'gateway.sock'), { recursive: true });
    const busy = await home.run(bootstrap);
    expect(busy.stderr).toMatch(
      /^error: the data folder \S+ is in use by another gateway \(process \d+\); stop it .*\n$/,
    );
    const foreign = createServer();
    await new Promise<void>((resolve) => {
      foreign.listen(join(data, 'gateway.sock'), () => resolve());
    });
    chmodSync(join(data, 'gateway.sock'), 0o666);
    expect((await home.run(bootstrap)).stderr).toBe(
      `error: others may use ${data}/gateway.sock; nothing was asked there\n`,
    );
    foreign.close();
    await gateway.kill('SIGTERM');
  });

  test('makes no store, and asks which one', async () => {
    using home = new TestHome();
    const mistyped = join(folder, 'mistyped');
    const nowhere = await home.run(['keys', 'bootstrap', '--data', mistyped]);
    expect([nowhere.code, nowhere.stdout]).toEqual([1, '']);
    expect(nowhere.stderr).toBe(`error: there is no store ${mistyped}/reeve.db: give the data folder of a gateway\n`);
    expect(existsSync(mistyped)).toBe(false);
    expect(await home.run(['keys', 'bootstrap'])).toMatchObject({ code: 2, stdout: '' });
  });
});

/** What the socket says to a text, until it ends the connection. */
function askSocket(path: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.write(text);
  });
}

test('memory: keeps nothing and writes nothing', async () => {
  const data = join(folder, 'memory');
  await using gateway = await TestGateway.start({ folder: data, args: ['--database', 'memory:'] });
  const agent = await gateway.register({ agentId: 'a' });
  expect(await gateway.check(agent)).toMatchObject({ reason: 'no policy loaded' });
  expect(existsSync(join(data, 'reeve.db'))).toBe(false);
});

test('--help documents every flag and variable with its default, and examples', () => {
  const help = execFileSync('node_modules/.bin/reeve', ['serve', '--help'], { encoding: 'utf8' });
  for (const flag of ['--http', '--grpc', '--data', '--database', '--policy', '--config']) expect(help).toContain(flag);
  for (const [variable, byDefault] of Object.entries({
    SVC_HTTP_ADDR: '127.0.0.1:8080',
    SVC_GRPC_ADDR: '127.0.0.1:50051',
    SVC_DATA_DIR: '~/.reeve/gateway',
    SVC_DATABASE_URL: 'unset',
    SVC_NATS_URL: 'unset',
    SVC_NATS_CREDS: 'unset',
    SVC_TAKEOVER_SECS: '10',
    SVC_POLICY: '<data>/policies',
    SVC_BOOTSTRAP_API_KEY: 'unset',
    SVC_PUBLIC_URL: 'from the HTTP address',
    SVC_TLS_CERT: 'unset',
    SVC_TLS_KEY: 'unset',
    SVC_LOG_LEVEL: 'info',
    SVC_ACCESS_TOKEN_TTL_SECS: '900',
    SVC_TOKEN_TTL_SECS: '86400',
    SVC_REFRESH_TTL_SECS: '43200',
    SVC_REFRESH_TTL_REMEMBER_SECS: '2592000',
    SVC_INVITE_TTL_SECS: '604800',
    SVC_RESET_TTL_SECS: '3600',
    SVC_LOCKOUT_ATTEMPTS: '5',
    SVC_LOCKOUT_SECS: '900',
    SVC_OPS_SWEEP_TICK_SECS: '10',
    SVC_OPS_TTL_SECS: '60',
    SVC_CONTROL_ACK_SECS: '10',
    SVC_APPROVAL_TTL_SECS: '300',
    SVC_OPS_DURABLE: 'true',
  })) {
    expect(help).toMatch(new RegExp(`${variable}\\s+${byDefault.replaceAll(/[.*/<>]/g, '\\$&')}`));
  }
  expect(help).toContain('Examples:');
});
