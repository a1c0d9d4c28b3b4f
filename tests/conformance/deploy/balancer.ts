import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@reeve/sdk';
import { WebSocket } from 'ws';
import { startPair } from '../../cluster/pair.ts';
import { endWithUs } from '../../harness/end-with-us.ts';
import { eventually } from '../../harness/eventually.ts';
import { bootstrapKey } from '../../harness/gateway.ts';
import { freePort } from '../../harness/postgres.ts';
import { debianProgram } from './debian-package.ts';
import type { Trials } from './trials.ts';

const authorization = { authorization: `Bearer ${bootstrapKey}` };

/** HAProxy with `deploy/haproxy.cfg` in front of two real gateways; the place of the third is empty. */
export async function tryBalancer(trials: Trials): Promise<void> {
  const { trial } = trials;
  if (!debianProgram('haproxy', trials, '-v')) return;
  const folder = mkdtempSync(join(tmpdir(), 'reeve-balancer-'));
  const [http, grpc] = [await freePort(), await freePort()];
  const base = `http://127.0.0.1:${http}`;
  await using pair = await startPair({ SVC_TRUSTED_PROXIES: '127.0.0.1', SVC_PUBLIC_URL: base });
  const balancer = startBalancer(folder, { http, grpc }, [pair.one, pair.two]);
  try {
    await eventually(async () => equal((await fetch(`${base}/readyz`)).status, 200));
    using reeve = connect({ address: `127.0.0.1:${grpc}`, apiKey: bootstrapKey });
    const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'balanced' });

    await trial('gRPC passes in plain text: a check is answered', async () => {
      ok((await agent.check({ tool: 'search', args: {} })).allowed);
    });
    await trial('HTTP goes to both gateways, and /metrics to none', async () => {
      const self = async () => {
        const answer = await fetch(`${base}/api/v1/cluster`, { headers: authorization });
        const { gateways } = (await answer.json()) as { gateways: { id: string; self: boolean }[] };
        return gateways.find((gateway) => gateway.self)?.id;
      };
      const seen = new Set<string | undefined>();
      for (let call = 0; call < 6; call++) seen.add(await self());
      equal(seen.size, 2);
      equal((await fetch(`${base}/metrics`)).status, 404);
    });
    await trial('a WebSocket stays open and brings events', async () => {
      const ticket = await fetch(`${base}/api/v1/auth/ws-ticket`, { method: 'POST', headers: authorization });
      const { ticket: word } = (await ticket.json()) as { ticket: string };
      const socket = new WebSocket(`${base.replace('http', 'ws')}/api/v1/ws/events?ticket=${word}`);
      try {
        const [hello] = (await once(socket, 'message')) as [Buffer];
        match(hello.toString(), /"event_type":"hello"/);
        const next = once(socket, 'message') as Promise<[Buffer]>;
        await agent.check({ tool: 'search', args: {} });
        match((await next)[0].toString(), /"event_type":"(ops_change|decision)"/);
      } finally {
        socket.terminate();
      }
    });
    await trial('a killed gateway is not noticed: checks and HTTP go on at the other', async () => {
      await pair.one.kill('SIGKILL');
      const answers = [];
      for (let call = 0; call < 20; call++)
        answers.push((await agent.check({ tool: 'search', args: { call } })).allowed);
      deepEqual(new Set(answers), new Set([true]));
      for (let call = 0; call < 6; call++) equal((await fetch(`${base}/healthz`)).status, 200);
    });
  } finally {
    balancer.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ports {
  readonly http: number;
  readonly grpc: number;
}

/** The file as it is, but for the ports: here the gateways are on one address. */
function startBalancer(
  folder: string,
  ports: Ports,
  gateways: readonly { http: string; grpc: string }[],
): ChildProcess {
  let text = readFileSync('deploy/haproxy.cfg', 'utf8');
  gateways.forEach(({ http, grpc }, index) => {
    const host = `"\${GATEWAY_${index + 1}}`;
    const httpPort = new URL(http).port;
    text = text
      .replaceAll(`${host}:50051" check port 8080`, `"${grpc}" check port ${httpPort}`)
      .replaceAll(`${host}:8080"`, `"127.0.0.1:${httpPort}"`);
  });
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, text);
  const env = {
    PATH: process.env['PATH'],
    // Nobody is there.
    GATEWAY_3: '127.0.0.9',
    GRPC_BIND: `127.0.0.1:${ports.grpc}`,
    HTTP_BIND: `127.0.0.1:${ports.http}`,
  };
  const check = spawnSync('haproxy', ['-c', '-f', file], { env, encoding: 'utf8' });
  equal(check.status, 0, check.stderr);
  const child = spawn('haproxy', ['-db', '-f', file], { env, stdio: 'ignore' });
  endWithUs(child);
  return child;
}
