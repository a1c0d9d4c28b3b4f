import type { ClientHttp2Session } from 'node:http2';
import { connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { WebSocket } from 'ws';
import { residentBytes } from '../fuzz/memory.ts';
import { ControlStream } from '../harness/control-stream.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway } from '../harness/gateway.ts';
import { GrpcClient } from '../harness/grpc-client.ts';
import { Chance } from './chance.ts';
import { loadEnv } from './mixed-load.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver, unforeseenIn } from './part.ts';

/** A tenant's decision that waits longer than this was delayed by others, however busy the machine. */
const mostWaitMs = 10_000;
const mostGrowth = 500 * 2 ** 20;
const mebibyte = 2 ** 20;

interface Scene {
  readonly gateway: TestGateway;
  readonly agent: Registered;
  readonly chance: Chance;
  /** How many to open at once. */
  readonly many: number;
  readonly ends: AsyncDisposableStack;
}

const attacks: readonly (readonly [string, (scene: Scene) => Promise<void>])[] = [
  ['idle control streams', idleControlStreams],
  ['idle WebSockets', idleSockets],
  ['idle event sources', idleEventSources],
  ['slow readers', slowReaders],
  ['checks without credentials', strangers],
  ['connection churn', churn],
  ['unfinished messages', unfinishedMessages],
];

/** Thousands of streams, readers that do not read, and floods. Another tenant's decisions go on, in bounded memory. */
export async function streams(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const counts = { attacks: 0, decisions: 0, 'ms of longest wait': 0 };
  const findings: string[] = [];
  const many = limits.most > attacks.length ? 1000 : 25;
  while (!isOver(limits, counts.attacks) && findings.length === 0) {
    await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: loadEnv });
    const agent = await gateway.register({ orgId: 'victim', agentId: 'victim' });
    for (const [name, attack] of attacks) {
      if (isOver(limits, counts.attacks)) break;
      const { decisions, longestMs, faults } = await underAttack(attack, { gateway, agent, chance, many });
      findings.push(...faults.map((fault) => `${name}: ${fault}`));
      counts.attacks++;
      counts.decisions += decisions;
      counts['ms of longest wait'] = Math.max(counts['ms of longest wait'], Math.round(longestMs));
      limits.say(
        `${name}: ${decisions} decisions, longest wait ${Math.round(longestMs)} ms, ${faults.length} findings`,
      );
    }
    const code = await gateway.kill('SIGTERM');
    if (code !== 0) findings.push(`SIGTERM afterwards: exit ${code}`);
  }
  return { counts, findings, notRun: [] };
}

async function underAttack(
  attack: (scene: Scene) => Promise<void>,
  scene: Omit<Scene, 'ends'>,
): Promise<{ decisions: number; longestMs: number; faults: string[] }> {
  const { gateway, agent } = scene;
  const before = await residentBytes(gateway.http);
  const faults: string[] = [];
  const over = new AbortController();
  let decisions = 0;
  let longestMs = 0;
  const victim = (async () => {
    for (; !over.signal.aborted; decisions++) {
      const start = performance.now();
      await gateway.check(agent);
      longestMs = Math.max(longestMs, performance.now() - start);
    }
  })().catch((error: unknown) => void faults.push(`a decision of another tenant fails: ${String(error)}`));
  {
    await using ends = new AsyncDisposableStack();
    await attack({ ...scene, ends });
    const grown = (await residentBytes(gateway.http)) - before;
    if (grown > mostGrowth) faults.push(`the gateway has grown by ${Math.round(grown / mebibyte)} MiB`);
    over.abort();
    await victim;
  }
  if (longestMs > mostWaitMs) faults.push(`a decision of another tenant waits for ${Math.round(longestMs)} ms`);
  const { stderr } = gateway.output();
  faults.push(...unforeseenIn(stderr));
  return { decisions, longestMs, faults };
}

/** Long enough for every periodic sender to send. */
function linger(many: number): Promise<void> {
  return sleep(many >= 1000 ? 5000 : 250);
}

async function idleControlStreams({ gateway, many, ends }: Scene): Promise<void> {
  for (let nth = 0; nth < many; nth += 50) {
    // A connection has a limit of streams, so there is one for every fifty agents.
    const client = new GrpcClient(gateway.grpc);
    ends.defer(() => client.close());
    const agents = await Promise.all(
      Array.from({ length: 50 }, (_, at) => gateway.register({ orgId: 'idle', agentId: `idle-${nth + at}` })),
    );
    for (const agent of agents) {
      const stream = new ControlStream(client, agent);
      ends.defer(() => stream.cancel());
    }
  }
  await linger(many);
}

async function idleSockets({ gateway, many, ends }: Scene): Promise<void> {
  await openSockets(gateway, many, ends);
  await linger(many);
}

async function openSockets(gateway: TestGateway, many: number, ends: AsyncDisposableStack): Promise<WebSocket[]> {
  const sockets = Array.from({ length: many }, () => {
    const socket = new WebSocket(`${gateway.http.replace('http', 'ws')}/api/v1/ws/events`, {
      headers: { authorization: `Bearer ${bootstrapKey}` },
    });
    socket.on('error', () => undefined);
    ends.defer(() => socket.terminate());
    return socket;
  });
  // A refused socket, as there may be a limit, is closed.
  await Promise.all(
    sockets.map((socket) => new Promise<void>((resolve) => void socket.once('open', resolve).once('close', resolve))),
  );
  return sockets;
}

async function idleEventSources({ gateway, many, ends }: Scene): Promise<void> {
  const head = `GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${bootstrapKey}\r\n\r\n`;
  for (let nth = 0; nth < many; nth++) openRaw(gateway.http, ends).write(head);
  await linger(many);
}

/** Sockets that follow everything and read nothing, while there is much to send. */
async function slowReaders({ gateway, agent, many, ends }: Scene): Promise<void> {
  const sockets = await openSockets(gateway, Math.ceil(many / 10), ends);
  for (const socket of sockets) socket.pause();
  const summary = 'x'.repeat(4000);
  for (let nth = 0; nth < many; nth += 10) {
    await Promise.all(Array.from({ length: 10 }, () => gateway.check(agent, { summary })));
  }
}

async function strangers({ gateway, many, ends }: Scene): Promise<void> {
  const stranger = { id: { orgId: 'victim', teamId: 'core', agentId: 'victim' }, token: 'rva_wrong' };
  const client = new GrpcClient(gateway.grpc);
  ends.defer(() => client.close());
  const ask = () =>
    client
      .call(paths.checkAction, CheckActionRequest, CheckActionResponse, checkRequest(stranger))
      .catch(() => undefined);
  for (let nth = 0; nth < 10 * many; nth += 100) {
    await Promise.all([
      ...Array.from({ length: 100 }, ask),
      fetch(`${gateway.http}/api/v1/agents`).then((a) => a.text()),
    ]);
  }
}

/** Connections to both ports that are cut at once, stay silent, or send garbage. */
async function churn({ gateway, chance, many, ends }: Scene): Promise<void> {
  for (let nth = 0; nth < 5 * many; nth++) {
    const socket = openRaw(chance.happens(0.5) ? gateway.http : `http://${gateway.grpc}`, ends);
    if (chance.happens(0.6))
      socket.write(chance.oneOf(['GET / HTTP/1.1\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\u0000'] as const));
    if (chance.happens(0.7)) socket.on('connect', () => socket.resetAndDestroy());
    if (nth % 100 === 99) await sleep(20);
  }
}

/** Four-megabyte messages that never end, without a credential, on one connection. */
async function unfinishedMessages({ gateway, many, ends }: Scene): Promise<void> {
  const session: ClientHttp2Session = connectHttp2(`http://${gateway.grpc}`);
  session.on('error', () => undefined);
  ends.defer(() => session.destroy());
  const prefix = Buffer.from([0, 0, 0x3f, 0xff, 0xff]);
  for (let nth = 0; nth < Math.min(100, many); nth++) {
    const stream = session.request({
      ':method': 'POST',
      ':path': paths.checkAction,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => undefined);
    stream.write(prefix);
    stream.write(Buffer.alloc(4 * mebibyte - 100));
  }
  await linger(many);
}

function openRaw(base: string, ends: AsyncDisposableStack): Socket {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  ends.defer(() => void socket.destroy());
  return socket;
}
