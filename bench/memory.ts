import { statfsSync } from 'node:fs';
import { askProbe } from './ask-probe.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { startLoad } from './load-process.ts';
import { batchSize } from './load-protocol.ts';
import type { ProbeMemory } from './probe.ts';
import { slopeOf } from './statistics.ts';

export interface MemorySample extends ProbeMemory {
  readonly decisions: number;
  readonly databaseBytes: number;
  readonly walBytes: number;
  /** The rate of the step that ended here. */
  readonly perSecond: number;
}

export interface MemoryResult {
  readonly decisions: number;
  readonly samples: readonly MemorySample[];
  /** Bytes that each decision adds to the process, over the last four fifths of the run. */
  readonly heapPerDecision: number;
  readonly rssPerDecision: number;
  readonly diskPerDecision: number;
  /** Why the run ended early, if it did. */
  readonly stopped: string | undefined;
}

const smallestStep = 20_000;
const mostSteps = 25;
/** A generous estimate for the audit entry, its indexes and the write-ahead log. */
const diskBytesPerDecision = 2500;
const spareDiskBytes = 2 * 2 ** 30;
const sweepSecs = 1;

/**
 * Sends many decisions and measures the memory of the process in between. One in ten is allowed and completed, the
 * others are denied, so that operations end. Ended operations are swept before each measurement.
 */
export async function measureMemory(
  cores: Cores,
  decisions: number,
  tell: (line: string) => void,
): Promise<MemoryResult> {
  const env = { SVC_OPS_TTL_SECS: String(sweepSecs), SVC_OPS_SWEEP_TICK_SECS: String(sweepSecs) };
  const gateway = await startGateway({ core: cores.server, probe: true, env });
  const load = startLoad(cores.load);
  const step = Math.ceil(Math.max(smallestStep, decisions / mostSteps) / batchSize) * batchSize;
  const samples: MemorySample[] = [];
  let stopped: string | undefined;
  try {
    await load.run({ kind: 'register', fleet: gateway.grpc, agents: 100, orgs: 10 });
    samples.push(await weigh(gateway, 0, 0));
    for (let done = step; done <= decisions; done += step) {
      stopped = shortage(gateway, step);
      if (stopped !== undefined) break;
      const { failed, seconds } = await load.run({ kind: 'mixed', fleet: gateway.grpc, decisions: step });
      if (failed > 0) throw new Error(`${failed} batches did not get the answers they should have`);
      await new Promise((resolve) => {
        setTimeout(resolve, sweepSecs * 2500);
      });
      const sample = await weigh(gateway, done, step / seconds);
      samples.push(sample);
      tell(`${done.toLocaleString('en-US')} decisions, heap ${Math.round(sample.heapUsed / 2 ** 20)} MB …`);
    }
  } finally {
    await Promise.all([load.stop(), gateway.stop()]);
  }
  const settled = samples.slice(Math.ceil(samples.length / 5));
  const slope = (weight: (sample: MemorySample) => number) =>
    slopeOf(settled.map((sample) => ({ x: sample.decisions, y: weight(sample) })));
  return {
    decisions: samples.at(-1)?.decisions ?? 0,
    samples,
    heapPerDecision: slope((sample) => sample.heapUsed),
    rssPerDecision: slope((sample) => sample.rss),
    diskPerDecision: slope((sample) => sample.databaseBytes),
    stopped,
  };
}

async function weigh(gateway: GatewayProcess, decisions: number, perSecond: number): Promise<MemorySample> {
  const memory = await askProbe<ProbeMemory>(gateway, 'memory');
  const { database, wal } = gateway.disk();
  return { ...memory, decisions, databaseBytes: database, walBytes: wal, perSecond };
}

function shortage(gateway: GatewayProcess, step: number): string | undefined {
  const { bavail, bsize } = statfsSync(gateway.folder);
  const free = bavail * bsize;
  const needed = step * diskBytesPerDecision + spareDiskBytes;
  return free >= needed ? undefined : `the disk has ${Math.round(free / 2 ** 20)} MB left`;
}
