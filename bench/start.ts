import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { askProbe } from './ask-probe.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { makeDataFolder, startGateway } from './gateway-process.ts';
import { startLoad } from './load-process.ts';
import { batchSize } from './load-protocol.ts';
import type { ProbeMemory, ProbeTurns } from './probe.ts';
import { pause, usageOf } from './process-usage.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';

export interface StartRow {
  readonly name: string;
  /** CPU of all threads until the gateway listens. */
  readonly cpuSecs: Spread;
  /** The ratio to the start with no operations of the same round. */
  readonly overEmpty: Spread;
  readonly wallSecs: Spread;
  readonly rssBytes: Spread;
  /** What is referenced after a full garbage collection. */
  readonly heapBytes: number;
  /** While housekeeping went through all operations. */
  readonly turns: ProbeTurns;
}

export interface StartResult {
  /** So many operations, or agents. */
  readonly found: number;
  readonly rows: readonly StartRow[];
}

interface Sample {
  readonly cpuSecs: number;
  readonly wallSecs: number;
  readonly rssBytes: number;
}

interface Case {
  readonly name: string;
  readonly folder: string;
}

/** What is done before the gateway is killed. */
interface Made {
  readonly agents: number;
  readonly ops: number;
  readonly completes?: boolean;
}

/** Who asks in all other cases. */
const fewAgents = 100;
/** Agents for each org. */
const agentsOfOrg = 100;

/** Housekeeping that does not come round, and one that does at once: it saves, marks, sweeps and moves its mark. */
const never = { SVC_OPS_SWEEP_TICK_SECS: '3600', SVC_OPS_TTL_SECS: '3600' };
const soon = { SVC_OPS_SWEEP_TICK_SECS: '1', SVC_OPS_TTL_SECS: '1', SVC_OPS_STALE_SECS: '3' };
const watchedSecs = 10;
const savedWithinSecs = 300;

/**
 * Starts gateways that were killed with so many operations, or with so many agents: in turn, and each after `kill -9`, so that
 * every start finds what the one before has found.
 */
export async function measureStart(
  cores: Cores,
  rounds: number,
  ops: number,
  tell: (line: string) => void,
): Promise<StartResult> {
  const whole = Math.ceil(ops / batchSize) * batchSize;
  const running = await makeCase(cores, 'running, in the log', { agents: fewAgents, ops: whole }, tell);
  const registered = await makeCase(cores, 'agents registered', { agents: whole, ops: 0 }, tell);
  const cases = [
    await makeCase(cores, 'no operations', { agents: fewAgents, ops: 0 }, tell),
    running,
    await savedCase(cores, 'running, in rows', running, whole, tell),
    await makeCase(cores, 'completed', { agents: fewAgents, ops: whole, completes: true }, tell),
    await savedCase(cores, 'agents registered', registered, whole, tell),
  ];
  const samples: Sample[][] = [];
  for (let round = 1; round <= rounds; round++) {
    tell(`round ${round} of ${rounds} …`);
    const sampled: Sample[] = [];
    for (const { folder } of cases) sampled.push(await timeStart(cores, folder));
    samples.push(sampled);
  }
  tell('housekeeping …');
  const rows: StartRow[] = [];
  for (const [at, each] of cases.entries()) rows.push(await rowOf(cores, each, samples, at));
  return { found: whole, rows };
}

/** A folder as a gateway leaves it that is killed right after all this. */
async function makeCase(
  cores: Cores,
  name: string,
  { agents, ops, completes = false }: Made,
  tell: (line: string) => void,
): Promise<Case> {
  tell(`${name}: making them …`);
  const { folder } = makeDataFolder();
  const gateway = await startGateway({ core: cores.server, folder, env: never });
  const load = startLoad(cores.load);
  try {
    const fleet = gateway.grpc;
    await load.run({ kind: 'register', fleet, agents, orgs: Math.max(10, agents / agentsOfOrg) });
    const filled = await load.run({ kind: 'fill', fleet, ops, noted: completes });
    const ended = completes ? await load.run({ kind: 'complete', fleet, pid: gateway.pid }) : filled;
    if (filled.failed + ended.failed > 0 || ended.done !== ops) throw new Error(`${name}: some calls failed`);
    await gateway.kill();
    return { name, folder };
  } finally {
    await Promise.all([load.stop(), gateway.stop()]);
  }
}

/** The same, once all operations have a row and the log of so many entries need not be replayed. */
async function savedCase(
  cores: Cores,
  name: string,
  before: Case,
  entries: number,
  tell: (line: string) => void,
): Promise<Case> {
  tell(`${name}: saving them …`);
  const { folder } = makeDataFolder();
  cpSync(before.folder, folder, { recursive: true });
  const gateway = await startGateway({ core: cores.server, folder, env: soon });
  const deadline = performance.now() + savedWithinSecs * 1000;
  while (replayFrom(folder) < entries) {
    if (performance.now() > deadline) throw new Error(`${name}: they were not saved in time`);
    await pause(1);
  }
  await gateway.kill();
  return { name, folder };
}

function replayFrom(folder: string): number {
  const db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
  try {
    return Number(db.prepare(`SELECT value FROM meta WHERE name = 'ops_replay_from'`).get()?.['value'] ?? 0);
  } finally {
    db.close();
  }
}

async function timeStart(cores: Cores, folder: string): Promise<Sample> {
  const startedAt = performance.now();
  const gateway = await startGateway({ core: cores.server, folder, env: never });
  const { cpuMicros = Number.NaN, rssBytes = Number.NaN } = usageOf(gateway.pid);
  const wallSecs = (performance.now() - startedAt) / 1000;
  await gateway.kill();
  return { cpuSecs: cpuMicros / 1e6, wallSecs, rssBytes };
}

async function rowOf(
  cores: Cores,
  { name, folder }: Case,
  samples: readonly (readonly Sample[])[],
  at: number,
): Promise<StartRow> {
  const of = (read: (sample: Sample) => number) =>
    spreadOf(samples.map((sampled) => (sampled[at] === undefined ? Number.NaN : read(sampled[at]))));
  const gateway: GatewayProcess = await startGateway({ core: cores.server, folder, env: soon, probe: true });
  const { heapUsed } = await askProbe<ProbeMemory>(gateway, 'memory');
  await askProbe(gateway, 'turns-start');
  await pause(watchedSecs);
  const turns = await askProbe<ProbeTurns>(gateway, 'turns-stop');
  await gateway.kill();
  return {
    name,
    cpuSecs: of(({ cpuSecs }) => cpuSecs),
    overEmpty: spreadOf(samples.map((sampled) => (sampled[at]?.cpuSecs ?? 0) / (sampled[0]?.cpuSecs ?? 0))),
    wallSecs: of(({ wallSecs }) => wallSecs),
    rssBytes: of(({ rssBytes }) => rssBytes),
    heapBytes: heapUsed,
    turns,
  };
}
