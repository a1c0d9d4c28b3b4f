import { askProbe, probeEnv } from './ask-probe.ts';
import type { Cores } from './cores.ts';
import { startGateway } from './gateway-process.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import { checkRound, cpuByThreadOf } from './rounds.ts';
import type { ServerProcess } from './server-process.ts';
import { shapes, startEcho } from './throughput.ts';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Node's name for it. */
const mainThread = 'MainThread';

/** Time in a function itself, without its callees. */
export interface SelfTime {
  readonly owner: string;
  readonly name: string;
  readonly place: string;
  readonly microsPerDecision: number;
}

/** Where the time of a server went. */
export interface ServerProfile {
  readonly functions: readonly SelfTime[];
  /** CPU µs per decision of the threads beside the main one, by name. */
  readonly otherThreads: Readonly<Record<string, number>>;
}

export interface ShapeProfile {
  readonly shape: string;
  readonly gateway: ServerProfile;
  readonly echo: ServerProfile;
}

/**
 * Samples the main threads of gateway and echo under the same load. The samples give the shares, and the CPU time of
 * the thread gives the microseconds, so time in which another process had the core does not count.
 */
export async function profileGateway(cores: Cores, pace: Pace, tell: (line: string) => void): Promise<ShapeProfile[]> {
  const profiles: ShapeProfile[] = [];
  for (const shape of shapes) {
    tell(`profile of ${shape.name} …`);
    const load = startLoad(cores.load);
    const gateway = await startGateway({ core: cores.server, probe: true, fromSources: true });
    await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10 });
    const echo = await startEcho(cores, load, gateway, probeEnv);
    const profile = (server: ServerProcess) => profileServer(load, pace, shape, server, gateway);
    profiles.push({ shape: shape.name, gateway: await profile(gateway), echo: await profile(echo) });
    await Promise.all([load.stop(), gateway.stop(), echo.stop()]);
  }
  return profiles;
}

async function profileServer(
  load: LoadProcess,
  pace: Pace,
  shape: Shape,
  server: ServerProcess,
  gateway: ServerProcess,
): Promise<ServerProfile> {
  const fleet = gateway.grpc;
  const job = { kind: 'load', fleet, target: server.grpc, pid: server.pid, shape, warmupSecs: 0 } as const;
  await load.run({ ...job, seconds: pace.warmupSecs });
  await load.run({ kind: 'complete', fleet, pid: gateway.pid });
  await askProbe(server, 'profile-start');
  const result = checkRound(await load.run({ ...job, warmupSecs: pace.leadInSecs, seconds: pace.seconds }), shape.name);
  const { profile } = await askProbe<{ profile: CpuProfile }>(server, 'profile-stop');
  const { [mainThread]: mainThreadMicros = 0, ...otherThreads } = cpuByThreadOf(result);
  return { functions: selfTimes(profile, mainThreadMicros), otherThreads };
}

function selfTimes(profile: CpuProfile, microsPerDecision: number): SelfTime[] {
  const parents = new Map<number, ProfileNode>();
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const found = new Map<string, { function: Omit<SelfTime, 'microsPerDecision'>; micros: number }>();
  let all = 0;
  profile.samples.forEach((id, index) => {
    const node = nodes.get(id);
    const micros = profile.timeDeltas[index] ?? 0;
    if (node === undefined || notWork(node)) return;
    all += micros;
    const described = describe(node, parents);
    const key = `${described.name} ${described.place}`;
    const known = found.get(key) ?? { function: described, micros: 0 };
    known.micros += micros;
    found.set(key, known);
  });
  return [...found.values()]
    .map((each) => ({ ...each.function, microsPerDecision: (each.micros / all) * microsPerDecision }))
    .sort((a, b) => b.microsPerDecision - a.microsPerDecision);
}

function notWork({ callFrame }: ProfileNode): boolean {
  return callFrame.functionName === '(idle)' || callFrame.url === 'node:inspector';
}

function describe(node: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): Omit<SelfTime, 'microsPerDecision'> {
  const { functionName, url, lineNumber } = node.callFrame;
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url !== '') return { owner: ownerOf(url), name, place: placeOf(url, lineNumber) };
  if (name === '(garbage collector)') return { owner: 'garbage collection', name, place: '' };
  // Native functions have no file: they belong to their caller.
  const caller = parents.get(node.id)?.callFrame;
  if (caller === undefined || caller.url === '') return { owner: 'native code and system calls', name, place: '' };
  return { owner: ownerOf(caller.url), name, place: `from ${placeOf(caller.url, caller.lineNumber)}` };
}

function placeOf(url: string, line: number): string {
  return `${url.replace(/^.*\/(node_modules|packages)\//, '')}:${line + 1}`;
}

/** The owner of the code, by the first pattern that matches its address. */
const owners: readonly (readonly [RegExp, string])[] = [
  [/@bufbuild|contract\/src\/gen|message-writer/, 'codec'],
  [/\/adapters\/sql\//, 'store: node:sqlite'],
  [/\/adapters\/crypto\/|node:internal\/crypto/, 'hashing'],
  [/\/packages\/core\/src\/(audit|journal)\//, 'core: audit and journal'],
  [/\/packages\/core\/src\/ops\//, 'core: operations'],
  [/\/packages\/core\/src\/policy\//, 'core: policy'],
  [/\/packages\/core\//, 'core: identity and decision'],
  [/\/packages\/gateway\//, 'gateway: transport and adapters'],
  [/^node:(internal\/(http2|streams|stream_base|js_stream)|net|http2|stream|events|_http)/, 'node: http2 and streams'],
  [/^node:/, 'node: buffers, timers, ticks'],
];

function ownerOf(url: string): string {
  return owners.find(([pattern]) => pattern.test(url))?.[1] ?? 'other';
}
