import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as Status,
  paths,
} from '@reeve/contract';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';

/** Stops the files of the process from growing. To the store this is a full disk. */
function limitFiles(gateway: TestGateway, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(gateway.child.pid), `--fsize=${bytes}:unlimited`]);
}

async function health(gateway: TestGateway): Promise<number> {
  const { status } = await gateway.client.call(paths.healthCheck, HealthCheckRequest, HealthCheckResponse, {
    service: '',
  });
  return status;
}

test('a full disk: calls fail closed, nothing is half written, and service resumes by itself', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const agent = await gateway.register({ agentId: 'a' });
  const before = { traceId: 'before', spanId: '1' };
  await gateway.check(agent, before);
  const entries = gateway.audit().length;

  // Less than one page of the WAL. Wherever the next write lands, it is written in part or not at all.
  limitFiles(gateway, 4096);
  const large = { context: toolCall('search', { filler: 'x'.repeat(60_000) }) };
  const during = { ...large, traceId: 'during', spanId: '1' };
  await expect(gateway.check(agent, during)).rejects.toMatchObject({ code: 14 });
  await expect(gateway.register({ agentId: 'b' }, { metadata: filler() })).rejects.toMatchObject({ code: 14 });
  await expect(gateway.check(agent, during)).rejects.toMatchObject({ code: 14 });
  expect(gateway.audit()).toHaveLength(entries);

  limitFiles(gateway, 'unlimited');
  await eventually(async () => expect(await health(gateway)).toBe(Status.SERVING));
  expect((await gateway.ready()).status).toBe(200);
  // The operation that was refused for lack of a record never existed. Its check counts as the first.
  expect(await gateway.check(agent, during)).toMatchObject({ decision: 1, opState: 'running' });
  expect(gateway.audit().filter((entry) => entry.op_id === 'during:1')).toHaveLength(1);
  expect(gateway.audit().at(-1)?.payload).not.toHaveProperty('replay');
  await expect(
    gateway.heartbeat({ id: { orgId: 'acme', teamId: 'core', agentId: 'b' }, token: 'x' }),
  ).rejects.toMatchObject({ code: 16 });
  expect(await gateway.check(agent, before)).toMatchObject({ decision: 1 });
  expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });

  await using again = await gateway.restart('SIGKILL');
  expect(await again.check(agent, during)).toMatchObject({ decision: 1, opState: 'running' });
});

test('while the store fails, health says so', async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const agent = await gateway.register({ agentId: 'a' });
  limitFiles(gateway, 1);
  await expect(gateway.check(agent)).rejects.toMatchObject({ code: 14 });
  expect(await health(gateway)).toBe(Status.NOT_SERVING);
  const { status, body } = await gateway.ready();
  expect(status).toBe(503);
  expect(body.parts['store']).toMatchObject({ status: 'failing' });
  limitFiles(gateway, 'unlimited');
  await eventually(async () => expect(await health(gateway)).toBe(Status.SERVING));
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
});

test('a log that cannot be written does not end the gateway', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-log-'));
  const log = openSync(join(folder, 'gateway.log'), 'a');
  const args = ['serve', '--data', join(folder, 'data'), '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'];
  const child = spawn('node_modules/.bin/reeve', args, {
    env: { ...process.env, SVC_BOOTSTRAP_API_KEY: bootstrapKey, SVC_LOG_LEVEL: 'debug' },
    stdio: ['ignore', 'pipe', log],
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout ?? process.stdin }), 'line')) as [string];
    const { http } = JSON.parse(line) as { http: string };
    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=1:unlimited']);
    for (let i = 0; i < 20; i++) expect((await fetch(`${http}/healthz`)).status).toBe(200);
    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited']);
    expect((await fetch(`${http}/healthz`)).status).toBe(200);
    expect(child.exitCode).toBeNull();
  } finally {
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await ended;
    closeSync(log);
    rmSync(folder, { recursive: true });
  }
});

function filler(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`m${i}`, 'x'.repeat(1000)]));
}
