// npm run bench: see --help, and docs/performance.md for what the figures mean.
import { availableParallelism, totalmem } from 'node:os';
import { cliStartTable, measureCliStart } from './cli-start.ts';
import { clusterTable, measureCluster } from './cluster.ts';
import { conditionsTable, measureConditions } from './conditions.ts';
import { controlStreamsTable, measureControlStreams } from './control-streams.ts';
import type { Cores } from './cores.ts';
import { chooseCores } from './cores.ts';
import { fanOutTable, measureFanOut } from './fan-out.ts';
import { floorPace, floorTable, measureFloor, quickFloorPace } from './floor.ts';
import { labelsTable, measureLabels } from './labels.ts';
import { hookTable, measureHook } from './hook.ts';
import { floodsTable, measureFloods } from './floods.ts';
import { loginsTable, measureLogins } from './logins.ts';
import { logsTable, measureLogs } from './logs.ts';
import { memoryPicture, memoryTable } from './memory-report.ts';
import { measureMemory } from './memory.ts';
import { measureModelProxy, modelProxyTable } from './model-proxy.ts';
import type { Options, Pace, Part } from './options.ts';
import { parseOptions, usage } from './options.ts';
import { peersPicture, peersText } from './peers-report.ts';
import { measurePeers } from './peers.ts';
import { profileTables } from './profile-report.ts';
import { profileGateway } from './profile.ts';
import { publish } from './publish.ts';
import { measureSegments, segmentsTable } from './segments.ts';
import { measureScopedStop, scopedStopTable } from './scoped-stop.ts';
import { measureSdkCost, sdkCostTable } from './sdk-cost.ts';
import { measureSubjects, subjectsTable } from './subjects.ts';
import { scalingPicture, scalingTable } from './scaling-report.ts';
import { measureScaling } from './scaling.ts';
import { noiseLines, ratioTable, throughputPicture, throughputTable } from './throughput-report.ts';
import { startTable } from './start-report.ts';
import { measureStart } from './start.ts';
import { count } from './table.ts';
import { measureThroughput } from './throughput.ts';

/** The output of one part of the benchmark. */
interface Outcome {
  readonly text: string;
  readonly results: unknown;
  readonly picture?: string;
  /** How much was measured. */
  readonly how: string;
}

type Run = (cores: Cores, options: Options) => Promise<Outcome>;

const runs: Readonly<Record<Part, Run>> = {
  throughput: async (cores, { pace }) => {
    const results = await measureThroughput(cores, pace, tell);
    const text = [throughputTable(results), '', ratioTable(results), '', noiseLines(results)].join('\n');
    return { text, results, picture: throughputPicture(results), how: inRounds(pace) };
  },
  scaling: async (cores, { pace, quick }) => {
    // Batches leave many operations to complete after each round, so half the time is enough.
    const shorter = { ...pace, seconds: pace.seconds / 2 };
    const results = await measureScaling(cores, shorter, quick ? 0.1 : 1, tell);
    return { text: scalingTable(results), results, picture: scalingPicture(results), how: inRounds(shorter) };
  },
  memory: async (cores, { decisions }) => {
    const results = await measureMemory(cores, decisions, tell);
    return {
      text: memoryTable(results),
      results,
      picture: memoryPicture(results),
      how: `${count(decisions)} decisions`,
    };
  },
  start: async (cores, { pace, ops }) => {
    const results = await measureStart(cores, pace.rounds, ops, tell);
    return { text: startTable(results), results, how: `${pace.rounds} rounds, ${count(ops)} operations` };
  },
  logs: async (_cores, { entries }) => {
    const results = await measureLogs(entries, tell);
    return { text: logsTable(results), results, how: `up to ${count(entries)} entries` };
  },
  logins: async (cores, { pace }) => {
    const results = await measureLogins(cores, pace, tell);
    return { text: loginsTable(results), results, how: inRounds(pace) };
  },
  'control-streams': async (cores, { pace, quick }) => {
    const results = await measureControlStreams(cores, pace, quick ? 1000 : 10_000, tell);
    return { text: controlStreamsTable(results), results, how: inRounds(pace) };
  },
  'scoped-stop': async (cores, { pace, quick }) => {
    const results = await measureScopedStop(cores, pace, quick ? 20_000 : 100_000, tell);
    return { text: scopedStopTable(results), results, how: inRounds(pace) };
  },
  'fan-out': async (cores, { pace, quick }) => {
    const results = await measureFanOut(cores, pace, quick ? 200 : 1000, tell);
    return { text: fanOutTable(results), results, how: inRounds(pace) };
  },
  conditions: async (cores, { pace }) => {
    const results = await measureConditions(cores, pace, tell);
    return { text: conditionsTable(results), results, how: inRounds(pace) };
  },
  labels: async (cores, { pace }) => {
    const results = await measureLabels(cores, pace, tell);
    return { text: labelsTable(results), results, how: inRounds(pace) };
  },
  subjects: async (cores, { pace }) => {
    const results = await measureSubjects(cores, pace, tell);
    return { text: subjectsTable(results), results, how: inRounds(pace) };
  },
  'cli-start': async (_cores, { quick }) => {
    const rounds = quick ? 15 : 60;
    const results = measureCliStart(rounds, tell);
    return { text: cliStartTable(results), results, how: `${rounds} rounds` };
  },
  hook: async (_cores, { quick }) => {
    const rounds = quick ? 15 : 60;
    const results = await measureHook(rounds, tell);
    return { text: hookTable(results), results, how: `${rounds} rounds` };
  },
  floor: async (_cores, { quick }) => {
    const pace = quick ? quickFloorPace : floorPace;
    const results = await measureFloor(pace, tell);
    return { text: floorTable(results), results, how: `${results.start.rounds} rounds` };
  },
  'sdk-cost': async (cores, { pace }) => {
    const results = await measureSdkCost(cores, pace, tell);
    return { text: sdkCostTable(results), results, how: inRounds(pace) };
  },
  cluster: async (cores, { pace }) => {
    const results = await measureCluster(cores, pace, tell);
    return { text: clusterTable(results), results, how: inRounds(pace) };
  },
  'model-proxy': async (cores, { pace }) => {
    const results = await measureModelProxy(cores, pace, tell);
    return { text: modelProxyTable(results), results, how: inRounds(pace) };
  },
  peers: async (cores, { pace }) => {
    const results = await measurePeers(cores, pace, tell);
    return { text: peersText(results), results, picture: peersPicture(results), how: inRounds(pace) };
  },
  floods: async (cores, { pace }) => {
    const results = await measureFloods(cores, pace, tell);
    return { text: floodsTable(results), results, how: inRounds(pace) };
  },
  segments: async (_cores, { pace, quick }) => {
    const results = measureSegments(pace.rounds, quick ? 10_000 : 50_000, tell);
    return { text: segmentsTable(results), results, how: `${pace.rounds} rounds` };
  },
  profile: async (cores, { pace }) => {
    const results = await profileGateway(cores, pace, tell);
    return { text: profileTables(results), results, how: inRounds({ ...pace, rounds: 1 }) };
  },
};

/** Their servers and commands run on any core. */
const roaming: ReadonlySet<Part> = new Set(['logs', 'cli-start', 'hook', 'floor', 'cluster', 'segments']);

function inRounds({ rounds, seconds }: Pick<Pace, 'rounds' | 'seconds'>): string {
  return `${rounds} rounds of ${seconds} s`;
}

function tell(line: string): void {
  process.stderr.write(`  ${line}\n`);
}

function machine(cores: Cores) {
  return {
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    pinned: cores.server !== undefined,
  };
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(usage);
    return;
  }
  const cores = options.pin ? chooseCores() : { server: undefined, load: undefined };
  const { cores: all, platform, node, pinned } = machine(cores);
  const where = `${all} cores, ${platform}, Node ${node}`;
  process.stdout.write(`${where}\n`);
  for (const part of options.parts) {
    process.stdout.write(`\n${part}\n\n`);
    const { text: tables, how, ...outcome } = await runs[part](cores, options);
    const place = pinned && !roaming.has(part) ? 'servers and load on a core each' : 'servers not pinned';
    const text = `${tables}\n\nMeasured: ${how}; ${where}; ${place}.`;
    process.stdout.write(`${text}\n`);
    if (options.out !== undefined) publish(options.out, { part, machine: machine(cores), ...outcome, text });
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  // Running servers end with this process.
  process.exit(1);
}
