import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@reeve/sdk';
import { trackFolder } from './children.ts';
import { installedCommand } from './command.ts';
import type { Cores } from './cores.ts';
import { startGateway } from './gateway-process.ts';
import { bootstrapKey } from './load-protocol.ts';
import type { Pace } from './options.ts';
import { pause, usageOf } from './process-usage.ts';
import type { ServerProcess } from './server-process.ts';
import { startServer } from './server-process.ts';
import { duration, fixed, megabytes, textTable } from './table.ts';

export interface ModelProxyResults {
  /** To the first event of a stream, one call after the other, direct and through the proxy in turn. */
  readonly firstByte: {
    readonly calls: number;
    readonly direct: Percentiles;
    readonly proxied: Percentiles;
    /** Of the proxy and of the gateway, for one call. */
    readonly cpuMicros: { readonly proxy: number; readonly gateway: number };
  };
  readonly streams: {
    readonly count: number;
    readonly events: number;
    readonly failed: number;
    /** Of one core, while all streams were open. */
    readonly cpuShare: number;
    readonly cpuMicrosPerEvent: number;
    readonly rssBytes: number;
    readonly firstByte: Percentiles;
  };
}

interface Percentiles {
  readonly p50Micros: number;
  readonly p99Micros: number;
}

interface StreamRun {
  readonly firstMicros: number;
  readonly bytes: number;
}

const atOnce = 200;
const promisedOverheadMicros = 1000;

/** What the model proxy adds to a call, and whether it carries many streams at once on one core. */
export async function measureModelProxy(
  cores: Cores,
  pace: Pace,
  tell: (line: string) => void,
): Promise<ModelProxyResults> {
  const gateway = await startGateway({ core: cores.load });
  const upstream = await startServer(cores.load, [process.execPath, fileOf('./model-stream-server.ts')]);
  const proxy = await startProxy(cores.server, upstream.http, gateway.grpc);
  const reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey });
  const token = `rva_${'b'.repeat(43)}`;
  const agent = await reeve.register({ orgId: 'acme', teamId: 'bench', agentId: 'models', token });
  const keepAlive = new Agent({ keepAlive: true });
  const call = (base: string, events: number) => streamFrom(keepAlive, base, token, events);
  try {
    tell('first bytes …');
    const calls = Math.ceil(pace.seconds * pace.rounds * 60);
    // The proxy is a process that lasts: what counts is what it does once its code is compiled.
    for (let at = 0; at < pace.warmupSecs * 500; at++) for (const { http } of [upstream, proxy]) await call(http, 1);
    const [direct, proxied]: [number[], number[]] = [[], []];
    const before = [proxy, gateway].map(({ pid }) => usageOf(pid).cpuMicros ?? Number.NaN);
    for (let at = 0; at < calls; at++) {
      direct.push((await call(upstream.http, 1)).firstMicros);
      proxied.push((await call(proxy.http, 1)).firstMicros);
    }
    const [ofProxy = Number.NaN, ofGateway = Number.NaN] = [proxy, gateway].map(
      ({ pid }, at) => ((usageOf(pid).cpuMicros ?? Number.NaN) - (before[at] ?? Number.NaN)) / calls,
    );
    tell(`${atOnce} streams at once …`);
    const streams = await manyStreams(proxy, (events) => call(proxy.http, events), Math.ceil(pace.seconds * 50));
    const cpuMicros = { proxy: ofProxy, gateway: ofGateway };
    return { firstByte: { calls, direct: percentiles(direct), proxied: percentiles(proxied), cpuMicros }, streams };
  } finally {
    keepAlive.destroy();
    await agent.close();
    reeve.close();
    for (const server of [proxy, upstream, gateway]) await server.stop();
  }
}

async function manyStreams(
  proxy: ServerProcess,
  call: (events: number) => Promise<StreamRun>,
  events: number,
): Promise<ModelProxyResults['streams']> {
  const runs = Promise.allSettled(Array.from({ length: atOnce }, () => call(events)));
  // All streams have begun by then, and none has ended.
  await pause(0.3);
  const [before, from] = [usageOf(proxy.pid), performance.now()];
  await pause(Math.max(0.3, (events * 20) / 1000 - 0.6));
  const [after, to] = [usageOf(proxy.pid), performance.now()];
  const ended = await runs;
  const good = ended.filter((each) => each.status === 'fulfilled').map(({ value }) => value);
  const cpuMicros = (after.cpuMicros ?? Number.NaN) - (before.cpuMicros ?? Number.NaN);
  const micros = (to - from) * 1000;
  return {
    count: atOnce,
    events,
    failed: atOnce - good.length,
    cpuShare: cpuMicros / micros,
    cpuMicrosPerEvent: cpuMicros / ((micros / 20_000) * atOnce),
    rssBytes: after.rssBytes ?? Number.NaN,
    firstByte: percentiles(good.map(({ firstMicros }) => firstMicros)),
  };
}

async function startProxy(core: number | undefined, upstream: string, grpc: string): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-'));
  const remove = trackFolder(folder);
  const file = join(folder, 'models.yaml');
  writeFileSync(file, `upstreams:\n  - {name: up, kind: openai, base_url: "${upstream}", models: ["gpt-*"]}\n`);
  const args = ['llm', 'serve', '--config', file, '--http', '127.0.0.1:0', '--grpc-addr', grpc];
  const server = await startServer(core, [installedCommand(), ...args]);
  return {
    ...server,
    stop: async () => {
      await server.stop();
      remove();
    },
  };
}

/** Calls a model and reads its stream to the end. */
function streamFrom(agent: Agent, base: string, token: string, events: number): Promise<StreamRun> {
  const messages = [{ role: 'user', content: 'How long do refunds take? '.repeat(20) }];
  const body = JSON.stringify({ model: 'gpt-5', messages, max_tokens: 100, seed: events, stream: true });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const from = performance.now();
    let [first, bytes, end] = [Number.NaN, 0, ''];
    const sent = request(`${base}/v1/chat/completions`, { agent, method: 'POST', headers }, (response) => {
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) first = performance.now();
        bytes += chunk.length;
        end = chunk.toString();
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200 && end.includes('[DONE]'))
          resolve({ firstMicros: (first - from) * 1000, bytes });
        else reject(new Error(`a stream ended with ${response.statusCode}: ${end.slice(0, 300)}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { p50Micros: at(0.5), p99Micros: at(0.99) };
}

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

export function modelProxyTable({ firstByte, streams }: ModelProxyResults): string {
  const { direct, proxied, cpuMicros } = firstByte;
  const overhead = proxied.p50Micros - direct.p50Micros;
  const rows = [
    ['direct', duration(direct.p50Micros), duration(direct.p99Micros), ''],
    ['through the proxy', duration(proxied.p50Micros), duration(proxied.p99Micros), ''],
    ['overhead', duration(overhead), '', overhead <= promisedOverheadMicros ? 'kept' : 'NOT KEPT'],
  ];
  const together = [
    ['failed', String(streams.failed)],
    ['CPU of the proxy', `${fixed(streams.cpuShare * 100)} % of a core`],
    ['CPU an event', duration(streams.cpuMicrosPerEvent)],
    ['memory', megabytes(streams.rssBytes)],
    ['first byte, p50 and p99', `${duration(streams.firstByte.p50Micros)}, ${duration(streams.firstByte.p99Micros)}`],
  ];
  return [
    textTable([`first byte, ${firstByte.calls} calls each`, 'p50', 'p99', 'at most 1 ms'], rows),
    '',
    `CPU a call: ${duration(cpuMicros.proxy)} of the proxy, ${duration(cpuMicros.gateway)} of the gateway`,
    '',
    textTable([`${streams.count} streams at once, 50 events a second each`, ''], together),
  ].join('\n');
}
