// The long form of the fuzz test, by hand: node tests/fuzz/run.ts --minutes 10 --seed 1
// Repeats every operation, each round with the next seed, until the time is up or it finds a fault.
import { parseArgs } from 'node:util';
import type { Tally } from './fuzz.ts';
import { fuzz } from './fuzz.ts';
import { mostGrowth, residentBytes } from './memory.ts';
import { makeWorld } from './world.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: String(Date.now() % 1e9) } },
});
const firstSeed = Number(values.seed);
const ends = performance.now() + Number(values.minutes) * 60_000;
if (Number.isNaN(firstSeed) || Number.isNaN(ends)) throw new Error('--minutes and --seed take numbers');

const world = await makeWorld(300);
const { gateway } = world;
const tally: Tally = new Map();
try {
  const before = await residentBytes(gateway.http);
  let seed = firstSeed;
  for (; performance.now() < ends; seed++) {
    await fuzz(world, tally, { seed, valid: 20, mutated: 60 });
    await requireHealth(before);
    report(`round ${seed - firstSeed + 1}, seed ${seed}: ${requests()} requests, ${await growth(before)} MiB grown`);
  }
  report(`nothing found by seeds ${firstSeed} to ${seed - 1}\n${statuses()}`);
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await gateway[Symbol.asyncDispose]();
}

async function requireHealth(before: number): Promise<void> {
  const { status } = await fetch(`${gateway.http}/healthz`);
  if (status !== 200) throw new Error(`/healthz answers ${status}`);
  const { decision, reason } = await gateway.check(world.sentinel);
  if (decision !== 1) throw new Error(`a check is no longer allowed: ${reason}`);
  if ((await residentBytes(gateway.http)) - before > mostGrowth) throw new Error('the gateway takes ever more memory');
  const { stderr } = gateway.output();
  if (stderr.includes('unexpectedly')) throw new Error(`the gateway met what nobody foresaw: ${stderr}`);
}

async function growth(before: number): Promise<number> {
  return Math.round(((await residentBytes(gateway.http)) - before) / 1024 / 1024);
}

function requests(): number {
  return [...tally.values()].flatMap((counts) => [...counts.values()]).reduce((sum, count) => sum + count, 0);
}

function statuses(): string {
  const lines = [...tally].map(([operation, counts]) => {
    const shown = [...counts].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    return `  ${operation}  ${shown.join(', ')}`;
  });
  return lines.join('\n');
}

function report(text: string): void {
  process.stdout.write(`${text}\n`);
}
