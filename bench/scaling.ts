import type { Pair } from './calm-rounds.ts';
import { calmPairs } from './calm-rounds.ts';
import type { Cores } from './cores.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import type { LoadProcess } from './load-process.ts';
import { startLoad } from './load-process.ts';
import type { Shape } from './load-protocol.ts';
import type { Pace } from './options.ts';
import { manyPolicies } from './policies.ts';
import type { Figures } from './rounds.ts';
import { cpuRatioOf, figuresOf, measureRound, quietCpuRatioOf } from './rounds.ts';
import type { Spread } from './statistics.ts';
import { ratio } from './table.ts';

/** The size of one gateway. */
export interface Size {
  readonly agents: number;
  readonly orgs: number;
  readonly policies: number;
  readonly opsInFlight: number;
}

export interface ScalingRow {
  readonly name: string;
  readonly size: Size;
  readonly figures: Figures;
  /** The small gateway, in the same rounds. */
  readonly baseline: Figures;
  readonly cpuRatio: Spread;
  readonly quietCpuRatio: number;
  readonly leftOut: number;
  readonly setupSecs: number;
}

const small: Size = { agents: 100, orgs: 10, policies: 1, opsInFlight: 0 };

/** Batches have the smallest share of transport, so they show best how the decision itself grows. */
const shape: Shape = { name: 'BatchCheck of 100', method: 'batch', connections: 1, inFlight: 4 };

function sizes(scale: number): readonly { readonly name: string; readonly size: Size }[] {
  const large = { agents: 100_000 * scale, orgs: 1000 * scale, policies: 1000 * scale, opsInFlight: 100_000 * scale };
  const number = (value: number) => value.toLocaleString('en-US');
  return [
    { name: 'nothing: two small ones', size: small },
    { name: `agents: ${number(large.agents)}`, size: { ...small, agents: large.agents } },
    { name: `orgs: ${number(large.orgs)}`, size: { ...small, agents: large.orgs, orgs: large.orgs } },
    { name: `documents: ${number(large.policies)}`, size: { ...small, policies: large.policies } },
    { name: `in flight: ${number(large.opsInFlight)}`, size: { ...small, opsInFlight: large.opsInFlight } },
    { name: 'all of these', size: large },
  ];
}

/** A small gateway and one that is large in one respect, measured in turn. The ratio is the answer. */
export async function measureScaling(
  cores: Cores,
  pace: Pace,
  scale: number,
  tell: (line: string) => void,
): Promise<ScalingRow[]> {
  const rows: ScalingRow[] = [];
  for (const { name, size } of sizes(scale)) {
    tell(`${name} …`);
    const load = startLoad(cores.load);
    const baseline = await prepare(cores, load, small);
    const grown = await prepare(cores, load, size);
    try {
      const row = { name, size, setupSecs: grown.setupSecs, ...(await compare(load, pace, baseline, grown)) };
      tell(`  ${ratio(row.cpuRatio)} CPU over small`);
      rows.push(row);
    } finally {
      await Promise.all([load.stop(), baseline.stop(), grown.stop()]);
    }
  }
  return rows;
}

async function compare(load: LoadProcess, pace: Pace, baseline: GatewayProcess, grown: GatewayProcess) {
  const pair = async (warmupSecs: number): Promise<Pair> => ({
    base: await measureRound(load, pace, shape, baseline, warmupSecs),
    tested: await measureRound(load, pace, shape, grown, warmupSecs),
  });
  await pair(pace.warmupSecs);
  const { pairs, leftOut } = await calmPairs(pace.rounds, () => pair(pace.leadInSecs));
  return {
    figures: figuresOf(pairs.map(({ tested }) => tested)),
    baseline: figuresOf(pairs.map(({ base }) => base)),
    cpuRatio: cpuRatioOf(pairs),
    quietCpuRatio: quietCpuRatioOf(pairs),
    leftOut,
  };
}

async function prepare(
  cores: Cores,
  load: LoadProcess,
  size: Size,
): Promise<GatewayProcess & { readonly setupSecs: number }> {
  const gateway = await startGateway({ core: cores.server, policies: manyPolicies(size.policies - 1, size.orgs) });
  const { seconds } = await load.run({
    kind: 'register',
    fleet: gateway.grpc,
    agents: size.agents,
    orgs: size.orgs,
  });
  // Every agent has asked before: what an agent's first action costs is no question of how many there are.
  await load.run({ kind: 'fill', fleet: gateway.grpc, ops: size.agents, noted: true });
  await load.run({ kind: 'complete', fleet: gateway.grpc, pid: gateway.pid });
  if (size.opsInFlight > 0) {
    await load.run({ kind: 'fill', fleet: gateway.grpc, ops: size.opsInFlight });
    await untilSaved(gateway, size.opsInFlight);
  }
  return { ...gateway, setupSecs: seconds };
}

/** Operations in flight get a row in the store after a while. That work must not fall into a round. */
async function untilSaved(gateway: GatewayProcess, ops: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (gateway.count('ops') < ops && performance.now() < deadline) {
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
  }
}
