import { calmRounds } from './calm-rounds.ts';
import type { Cores } from './cores.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { LoadResult, Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import type { Peer, RunningPeer } from './peers/peer-servers.ts';
import { peers, startReeve } from './peers/peer-servers.ts';
import type { Figures } from './rounds.ts';
import { checkRound, cpuPerDecisionOf, figuresOf } from './rounds.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';

export interface PeerColumn {
  readonly key: string;
  readonly title: string;
  readonly shape: Pick<Shape, 'connections' | 'inFlight'>;
  /** Whether the calls are a mix of allowed, denied and held ones, decided by more rules. */
  readonly isMixed: boolean;
}

export const peerColumns: readonly PeerColumn[] = [
  { key: 'A', title: 'one caller', shape: { connections: 1, inFlight: 1 }, isMixed: false },
  { key: 'B', title: '64 connections, 1 in flight on each', shape: { connections: 64, inFlight: 1 }, isMixed: false },
  { key: 'C', title: '4 connections, 64 in flight on each', shape: { connections: 4, inFlight: 64 }, isMixed: false },
  {
    key: 'D',
    title: 'a mix, 64 connections, 1 in flight on each',
    shape: { connections: 64, inFlight: 1 },
    isMixed: true,
  },
];

/** A server under one load. */
export interface PeerCell extends Figures {
  readonly cpuSpread: Spread;
  /** Its CPU per call over that of the first server, round by round; undefined for want of that server. */
  readonly toFirst: Spread | undefined;
}

export interface PeerRow {
  readonly name: string;
  readonly decides: boolean;
  /** Why there are no figures. */
  readonly absent: string | undefined;
  /** By the keys of the columns. */
  readonly cells: Readonly<Record<string, PeerCell>>;
}

export interface PeersResult {
  readonly base: string;
  readonly rows: readonly PeerRow[];
  /** Rounds that were not counted because others disturbed them. */
  readonly leftOut: number;
}

interface Ready {
  readonly peer: Peer;
  readonly running: RunningPeer;
}

/** All servers under each load in turn: one round of every server, then the next round of every server. */
export async function measurePeers(cores: Cores, pace: Pace, tell: (line: string) => void): Promise<PeersResult> {
  const absent = new Map<string, string>();
  const programs = new Map<Peer, string>();
  for (const peer of peers) {
    tell(`${peer.name}: preparing …`);
    const program = await peer.prepare();
    if ('path' in program) programs.set(peer, program.path);
    else absent.set(peer.name, program.absent);
  }
  const cells = new Map<string, Record<string, PeerCell>>(peers.map(({ name }) => [name, {}]));
  const base = peers[0]?.name ?? '';
  let leftOut = 0;
  for (const column of peerColumns) {
    const measured = await measureColumn(cores, pace, column, programs, absent, tell);
    leftOut += measured.leftOut;
    const first = measured.byName.get(base);
    for (const [name, results] of measured.byName) {
      const row = cells.get(name);
      if (row !== undefined) row[column.key] = cellOf(results, first);
    }
  }
  const rows = peers.map(({ name, decides }) => ({
    name,
    decides,
    absent: absent.get(name),
    cells: cells.get(name) ?? {},
  }));
  return { base, rows, leftOut };
}

/** Fresh servers for each column, so that none inherits the memory of another load. */
async function measureColumn(
  cores: Cores,
  pace: Pace,
  column: PeerColumn,
  programs: ReadonlyMap<Peer, string>,
  absent: Map<string, string>,
  tell: (line: string) => void,
): Promise<{ readonly byName: ReadonlyMap<string, readonly LoadResult[]>; readonly leftOut: number }> {
  const load = startLoad(cores.load);
  const sampled = await startReeve(cores.server, load, false);
  const fleet = sampled.server.grpc;
  const { answer } = await load.run({ kind: 'sample', fleet, method: 'small' });
  await sampled.server.stop();
  const sample = { fleet, answerHex: Buffer.from(answer, 'base64').toString('hex') };
  const context = { core: cores.server, load, sample, isMixed: column.isMixed };
  const ready: Ready[] = [];
  try {
    for (const [peer, program] of programs) {
      if (column.isMixed && peer.isPlain === true) continue;
      try {
        ready.push({ peer, running: await peer.start(program, context) });
      } catch (error) {
        absent.set(peer.name, error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
      }
    }
    for (const one of ready) {
      tell(`${column.key}, ${column.title}: warming up ${one.peer.name}`);
      await oneRound(load, pace, column, one, pace.warmupSecs);
    }
    const { rounds, leftOut } = await calmRounds(
      pace.rounds,
      async () => {
        tell(`${column.key}: a round of ${ready.length} servers`);
        const round: LoadResult[] = [];
        for (const one of ready) round.push(await oneRound(load, pace, column, one, pace.leadInSecs));
        return round;
      },
      (round) => round,
    );
    const named = ready.map(({ peer }, at) => [peer.name, rounds.flatMap((round) => round[at] ?? [])] as const);
    return { byName: new Map(named), leftOut };
  } finally {
    await Promise.all([load.stop(), ...ready.map(({ running }) => running.server.stop())]);
  }
}

async function oneRound(
  load: LoadProcess,
  pace: Pace,
  column: PeerColumn,
  { peer, running: { server, request, hasOps } }: Ready,
  warmupSecs: number,
): Promise<LoadResult> {
  const { pid, grpc: target } = server;
  const { seconds } = pace;
  const result = await load.run({ kind: 'raw', target, pid, request, shape: column.shape, warmupSecs, seconds });
  // Otherwise a fast gateway would have more operations in flight in each round than in the one before.
  if (hasOps) await load.run({ kind: 'complete', fleet: target, pid });
  return checkRound(result, `${peer.name} under ${column.key}`);
}

function cellOf(results: readonly LoadResult[], first: readonly LoadResult[] | undefined): PeerCell {
  const cpu = results.map(cpuPerDecisionOf);
  const base = first?.map(cpuPerDecisionOf);
  return {
    ...figuresOf(results),
    cpuSpread: spreadOf(cpu),
    toFirst: base && spreadOf(cpu.map((micros, round) => micros / (base[round] ?? Number.NaN))),
  };
}
