import { fuzz as fuzzHttp } from '../../fuzz/fuzz.ts';
import type { Tally } from '../../fuzz/fuzz.ts';
import { mostGrowth, residentBytes } from '../../fuzz/memory.ts';
import type { World } from '../../fuzz/world.ts';
import { makeWorld } from '../../fuzz/world.ts';
import type { Limits, Outcome } from '../part.ts';
import { unforeseenIn } from '../part.ts';
import { fuzzProtos } from './fuzz-protos.ts';
import { fuzzSockets } from './fuzz-sockets.ts';
import { fuzzTexts } from './fuzz-texts.ts';

/** The shares of the inputs. Fast ones get more. */
const shares = { condition: 0.6, policy: 0.12, cases: 0.08, protos: 0.16, sockets: 0.01, http: 0.03 } as const;

/** Sends unexpected inputs to every parser: never a server fault, a hang, a crash or growth. */
export async function fuzz(limits: Limits): Promise<Outcome> {
  const share = (name: keyof typeof shares): Limits => ({ ...limits, most: Math.ceil(limits.most * shares[name]) });
  // Threads here read texts while a gateway takes the wire inputs, so that two cores are busy.
  const texts = async () => ({
    policy: await fuzzTexts('policy', partOfTime(share('policy'), 3)),
    cases: await fuzzTexts('cases', partOfTime(share('cases'), 2)),
    condition: await fuzzTexts('condition', share('condition')),
  });
  const [inThreads, onWire] = await Promise.all([texts(), fuzzWire(share)]);
  const all = Object.entries({ ...inThreads, ...onWire });
  const inputs = all.reduce((sum, [, each]) => sum + each.inputs, 0);
  return {
    counts: { inputs, ...Object.fromEntries(all.map(([name, each]) => [name, each.inputs])) },
    findings: all.flatMap(([, each]) => each.findings),
    notRun: [],
  };
}

/** The nth part of the remaining time. Unused time goes to the later parts. */
function partOfTime(limits: Limits, nth: number): Limits {
  const now = performance.now();
  return { ...limits, endsAt: now + (limits.endsAt - now) / nth };
}

interface Fuzzed {
  readonly inputs: number;
  readonly findings: string[];
}

async function fuzzWire(
  share: (name: keyof typeof shares) => Limits,
): Promise<Record<'protos' | 'sockets' | 'http', Fuzzed>> {
  const world = await makeWorld(60);
  try {
    const before = await residentBytes(world.gateway.http);
    const http = await fuzzOpenApi(world, partOfTime(share('http'), 3));
    const sockets = await fuzzSockets(world, partOfTime(share('sockets'), 4));
    const protos = await fuzzProtos(world, share('protos'));
    return {
      http,
      sockets,
      protos: { ...protos, findings: [...protos.findings, ...(await healthFaults(world, before))] },
    };
  } finally {
    await world.gateway[Symbol.asyncDispose]();
  }
}

async function fuzzOpenApi(world: World, { seed, endsAt, most, say }: Limits): Promise<Fuzzed> {
  const tally: Tally = new Map();
  const sent = () =>
    [...tally.values()].flatMap((counts) => [...counts.values()]).reduce((sum, count) => sum + count, 0);
  const operations = world.document.operations.length;
  const each = Math.max(1, Math.min(10, Math.floor(most / operations / 4)));
  try {
    for (let round = 0; performance.now() < endsAt && sent() < most; round++) {
      await fuzzHttp(world, tally, { seed: seed + round, valid: each, mutated: 3 * each });
      say(`http: ${sent()} requests`);
    }
    return { inputs: sent(), findings: [] };
  } catch (error) {
    return { inputs: sent(), findings: [error instanceof Error ? error.message : String(error)] };
  }
}

async function healthFaults({ gateway, sentinel }: World, before: number): Promise<string[]> {
  if (gateway.child.exitCode !== null || gateway.child.signalCode !== null) {
    return [`the gateway is gone: ${gateway.output().stderr.slice(-2000)}`];
  }
  const { decision, reason } = await gateway.check(sentinel);
  const grown = (await residentBytes(gateway.http)) - before;
  const { stderr } = gateway.output();
  return [
    ...(decision === 1 ? [] : [`a check of another tenant is no longer allowed: ${reason}`]),
    ...(grown < mostGrowth ? [] : [`the gateway has grown by ${Math.round(grown / 2 ** 20)} MiB`]),
    ...unforeseenIn(stderr),
  ];
}
