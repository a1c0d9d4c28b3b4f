import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { TestModelProxy } from '../harness/model-proxy.ts';
import { ModelUpstream } from '../harness/model-upstream.ts';
import { scripted } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-authority-'));
const inFolder = (name: string) => join(folder, name);
let gateway: TestGateway;
let home: TestHome;

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

/** An authority of its own, and a certificate of it for this machine. */
function certify(): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  for (const name of ['ours', 'theirs']) {
    const files = ['-keyout', inFolder(`${name}.key`), '-out', inFolder(`${name}.pem`)];
    openssl('req', '-x509', ...key, '-days', '2', '-subj', `/CN=${name}`, ...files);
  }
  writeFileSync(inFolder('names'), 'subjectAltName=IP:127.0.0.1');
  openssl('req', ...key, '-subj', '/CN=gateway', '-keyout', inFolder('key.pem'), '-out', inFolder('request'));
  const signed = ['-CA', inFolder('ours.pem'), '-CAkey', inFolder('ours.key'), '-CAcreateserial', '-days', '2'];
  const files = ['-in', inFolder('request'), '-extfile', inFolder('names'), '-out', inFolder('cert.pem')];
  openssl('x509', '-req', ...signed, ...files);
}

beforeAll(async () => {
  certify();
  home = new TestHome();
  gateway = await TestGateway.start({
    args: ['--database', 'memory:'],
    policies: { 'all.yaml': allowAll },
    env: { SVC_TLS_CERT: inFolder('cert.pem'), SVC_TLS_KEY: inFolder('key.pem') },
  });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const ca = () => ['--grpc-ca', inFolder('ours.pem')];
const key = () => ({ REEVE_GRPC_ADDR: gateway.grpc, REEVE_API_KEY: bootstrapKey });

const toolUse = {
  hook_event_name: 'PreToolUse',
  session_id: 'session',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  cwd: folder,
};

async function newToken(): Promise<string> {
  const args = ['agents', 'register', 'acme/core/bot', ...ca()];
  return (await home.json<{ token: string }>(args, { env: key() })).token;
}

test('all doors reach a gateway with a certificate of a private authority', async () => {
  const token = await newToken();
  await using client = await new RawMcpClient(['--server', 'scripted', ...ca(), '--', ...scripted], {
    REEVE_GRPC_ADDR: gateway.grpc,
    REEVE_AGENT_TOKEN: token,
  }).initialize();
  expect((await client.call('echo', { q: 1 })).content[0]?.text).toBe('{"q":1}');
  await using upstream = await ModelUpstream.start();
  await using proxy = await TestModelProxy.start({ grpc: gateway.grpc, upstream: upstream.url, args: ca() });
  const { status } = await fetch(`${proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [] }),
  });
  expect(status).toBe(200);
});

test.each([
  ['ours.pem', /^\{"hookSpecificOutput":\{"hookEventName":"PreToolUse"\}\} $/],
  ['theirs.pem', /"deny".*Reeve is not reachable.*certificate/],
  ['names', /"deny".*REEVE_GRPC_CA: .*names holds no certificate in PEM/],
  ['missing', /"deny".*REEVE_GRPC_CA: cannot read .*missing: ENOENT/],
])('a hook that trusts %s answers %s', async (file, answered) => {
  const event = { ...toolUse, tool_use_id: `use-${file}` };
  const env = { ...key(), REEVE_AGENT: 'acme/core/coder', REEVE_GRPC_CA: inFolder(file) };
  const { code, stdout } = await home.run(['hook', 'claude-code'], { env, input: JSON.stringify(event) });
  expect([code, stdout.replaceAll('\n', ' ')]).toEqual([0, expect.stringMatching(answered)]);
});

const notForSockets = '--grpc-ca is for gateways at HOST:PORT; a socket of this machine has no certificate';

test.each([
  ['agents', 'register', 'acme/core/bot'],
  ['mcp', 'run', '--server', 'scripted', '--agent', 'acme/core/bot', '--', ...scripted],
  ['mcp', 'serve', '--config', 'mcp.yaml'],
])('an authority says nothing of a gateway at a socket of this machine: %s %s', async (...command) => {
  const [first = '', second = '', ...rest] = command;
  const socket = ['--grpc-addr', `127.0.0.1:1,unix:${inFolder('reeve.sock')}`];
  const { code, stdout, stderr } = await home.run([first, second, ...ca(), ...socket, ...rest], { env: key() });
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(notForSockets)]);
});

test('a hook denies where both are given', async () => {
  const env = { ...key(), REEVE_GRPC_ADDR: 'unix:/run/reeve.sock', REEVE_GRPC_CA: inFolder('ours.pem') };
  const input = JSON.stringify({ ...toolUse, tool_use_id: 'use-socket' });
  const { code, stdout } = await home.run(['hook', 'claude-code'], { env, input });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/"deny".*--grpc-ca is for gateways at HOST:PORT/)]);
});

test('who registers without the authority is told of it in one line', async () => {
  const register = ['agents', 'register', 'acme/core/bot'];
  const { code, stderr } = await home.run(register, { env: key() });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: cannot register .*take TLS \(--grpc-ca\)\?\n$/)]);
});

test('who names an authority for a gateway without TLS is told of it in one line', async () => {
  await using plain = await TestGateway.start({ args: ['--database', 'memory:'] });
  const env = { ...key(), REEVE_GRPC_ADDR: plain.grpc };
  const { code, stderr } = await home.run(['agents', 'register', 'acme/core/bot', ...ca()], { env });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: cannot register .*take TLS \(--grpc-ca\)\?\n$/)]);
  const input = JSON.stringify({ ...toolUse, tool_use_id: 'use-plain' });
  const hook = { ...env, REEVE_AGENT: 'acme/core/other', REEVE_GRPC_CA: inFolder('ours.pem') };
  const { stdout } = await home.run(['hook', 'claude-code'], { env: hook, input });
  expect(stdout).toMatch(/"deny".*take TLS \(--grpc-ca\)\? Nothing was done/);
});
