import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, runServe, TestGateway } from '../harness/gateway.ts';
import {
  cut,
  expectWholeLog,
  HttpReceiver,
  otlpLines,
  refuse,
  signedLines,
  SyslogReceiver,
} from '../harness/log-receivers.ts';

const secret = 'a secret that signs';
const hidden = ['s3cret-pass', 's3cret-query', 's3cret-path', 's3cret-header', secret];
let folder: string;
let tls: { cert: Buffer; key: Buffer };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-forward-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...kind, ...name], { stdio: 'pipe' });
  tls = { cert: readFileSync(cert), key: readFileSync(key) };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

async function checks(gateway: TestGateway, agent: Registered, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await gateway.check(agent);
}

test('every target gets the whole log in order, whatever it, the network or a kill does in between', async () => {
  await using otlp = await HttpReceiver.start(otlpLines);
  await using posted = await HttpReceiver.start(signedLines(secret));
  await using plain = await SyslogReceiver.start();
  await using sealed = await SyslogReceiver.start(tls);
  const file = join(folder, 'audit.ndjson');
  const targets = [
    `otlp:http://ops:s3cret-pass@127.0.0.1:${otlp.port}`,
    `http://127.0.0.1:${posted.port}/s3cret-path?token=s3cret-query`,
    `syslog+tcp://127.0.0.1:${plain.port}`,
    `syslog+tls://localhost:${sealed.port}`,
    `file:${file}`,
  ];
  const options = {
    policies: { 'p.yaml': allowAll },
    env: {
      SVC_FORWARD: targets.join(', '),
      SVC_FORWARD_SECRET: secret,
      SVC_FORWARD_CA: join(folder, 'cert.pem'),
      SVC_FORWARD_OTLP_HEADERS: 'x-key=s3cret-header',
    },
  };
  otlp.faults = [refuse(503), refuse(429, { 'retry-after': '1' }), refuse(400), cut, undefined, refuse(500)];
  posted.faults = [refuse(500), cut, refuse(413), undefined, refuse(302, { location: '/elsewhere' })];
  plain.cuts = [300, 2500];
  sealed.cuts = [700];

  const first = await TestGateway.start(options);
  const agent = await first.register({ agentId: 'bot' });
  await checks(first, agent, 20);
  await eventually(() => expect(plain.messages.length).toBeGreaterThan(3));
  await first.kill('SIGKILL');
  // Half an entry, as a kill in the middle of a write leaves it.
  appendFileSync(file, '{"actor":{"id":"bot","kind":"age');
  posted.faults.push(refuse(500));

  await using gateway = await first.restart('SIGKILL', options);
  await checks(gateway, agent, 20);
  const newest = () => gateway.audit().at(-1)?.seq ?? 0;
  const receivers = [otlp, posted, plain, sealed];
  await eventually(async () => {
    await checks(gateway, agent, 1);
    expect([otlp.faults, posted.faults, plain.cuts, sealed.cuts]).toEqual([[], [], [], []]);
  });
  await eventually(() => {
    for (const { lines } of receivers) expectWholeLog(lines, 1, newest());
    expectWholeLog(linesOf(file), 1, newest());
  }, 400);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  // What the receivers see beside the entries.
  expect([...sealed.names]).toEqual(['localhost']);
  expect(otlp.posts.at(-1)).toMatchObject({
    path: '/v1/logs',
    headers: {
      'content-type': 'application/json',
      'x-key': 's3cret-header',
      authorization: `Basic ${Buffer.from('ops:s3cret-pass').toString('base64')}`,
    },
  });
  expect(posted.posts.at(-1)).toMatchObject({
    path: '/s3cret-path?token=s3cret-query',
    headers: { 'content-type': 'application/x-ndjson', 'reeve-delivery': expect.stringMatching(/^audit\.\d+-\d+$/) },
  });
  expect(plain.messages.at(-1)).toMatch(
    /^<110>1 \d{4}-\S+Z \S+ reeve - ActionAllowed \[reeve@32473 seq="\d+" hash="[0-9a-f]{64}" event="ActionAllowed" org="acme" team="core" agent="bot" decision="allow" op="[^"]+"\] \{"actor"/,
  );

  // Positions are confirmed, nobody is behind, and nothing gives an address or a credential away.
  await eventually(async () => {
    const { status, body } = await gateway.ready();
    expect(status).toBe(200);
    expect(body.parts['forward']).toMatchObject({ status: 'ok', detail: '' });
    expect(body.parts['forward']).toMatchObject({
      targets: ['otlp', 'https', 'syslog', 'syslog', 'file'].map((kind, index) => ({
        target: index + 1,
        kind,
        lag_entries: 0,
        lag_seconds: 0,
      })),
    });
  });
  const { text: metrics } = await gateway.api.get('/metrics');
  expect(metrics).toContain('reeve_forward_lag_entries{target="3",kind="syslog"} 0');
  expect(metrics).toMatch(/reeve_forward_failures_total\{target="2",kind="https"\} [1-9]/);
  const { text: ready } = await gateway.api.get('/readyz');
  const said = [first, gateway].map(({ output }) => output().stderr).join('');
  expect(said).toContain(`otlp:http://127.0.0.1:${otlp.port}`);
  for (const word of hidden) expect(metrics + ready + said).not.toContain(word);

  // A tool that rotates logs renames the file and sends SIGHUP.
  renameSync(file, `${file}.1`);
  const rotatedAt = newest();
  gateway.child.kill('SIGHUP');
  await checks(gateway, agent, 1);
  await eventually(() => expectWholeLog(linesOf(file), rotatedAt + 1, newest()));

  // The last entries leave before an orderly end, and the position with them.
  await checks(gateway, agent, 5);
  expect(await gateway.kill('SIGTERM')).toBe(0);
  const last = newest();
  for (const { lines } of receivers) expectWholeLog(lines, 1, last);
  const posts = posted.posts.length;

  // A target that is new begins with what comes next, or with the whole log.
  const [next, whole] = [join(folder, 'next.ndjson'), join(folder, 'whole.ndjson')];
  const more = { ...options.env, SVC_FORWARD: `${targets.join(',')},file:${next},file:${whole}#from=start` };
  await using again = await gateway.restart('SIGTERM', { ...options, env: more });
  await checks(again, agent, 3);
  await eventually(() => {
    expectWholeLog(linesOf(next), last + 1, newest());
    expectWholeLog(linesOf(whole), 1, newest());
    expectWholeLog(posted.lines, 1, newest());
  });
  const resumed = posted.posts[posts]?.headers['reeve-delivery'];
  expect(String(resumed)).toMatch(new RegExp(`^audit\\.${last + 1}-`));
}, 240_000);

test('targets that are away or silent hold up nothing, and show how far they are behind', async () => {
  await using silent = await HttpReceiver.start(() => []);
  silent.faults = Array.from({ length: 100 }, () => () => undefined);
  const away = await SyslogReceiver.start();
  const { port } = away;
  await away[Symbol.asyncDispose]();
  const env = { SVC_FORWARD: `otlp:http://127.0.0.1:${silent.port},syslog+tcp://127.0.0.1:${port}` };
  const args = ['--database', 'memory:'];
  await using gateway = await TestGateway.start({ policies: { 'p.yaml': allowAll }, env, args });
  const agent = await gateway.register({ agentId: 'bot' });
  await checks(gateway, agent, 10);
  await eventually(async () => {
    const { status, body } = await gateway.ready();
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'degraded', parts: { forward: { status: 'degraded' } } });
    expect(body.parts['forward']?.detail).toMatch(
      /target 2 \(syslog\) is \d+ entries and \d+ s behind \(ECONNREFUSED\)/,
    );
  });
  const { text } = await gateway.api.get('/metrics');
  expect(text).toMatch(/reeve_forward_lag_entries\{target="1",kind="otlp"\} \d\d/);
  await using back = await SyslogReceiver.start(undefined, port);
  await eventually(() => expect(back.lines.length).toBeGreaterThanOrEqual(12), 400);
  expectWholeLog(back.lines, 1, back.lines.length);
  expect(await gateway.kill('SIGTERM')).toBe(0);
}, 240_000);

test('a target that cannot be is refused at the start, in one line that quotes nothing', async () => {
  const { code, stderr } = await runServe([], { SVC_FORWARD: 'file:/tmp/a, ftp://u:s3cret-pass@host/x' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^reeve serve: SVC_FORWARD: the value given is not accepted; accepted: otlp:URL, .*\n$/);
  expect(stderr).toContain('target 2');
  expect(stderr).not.toContain('s3cret');
});
