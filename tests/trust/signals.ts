import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrations } from '../../packages/gateway/src/adapters/sql/schema.ts';
import { checkRequest, TestGateway } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';
import { Chance } from './chance.ts';
import type { ChildEnd } from './gateway-child.ts';
import { GatewayChild } from './gateway-child.ts';
import { loadEnv, loadPolicy } from './mixed-load.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver } from './part.ts';

/** Far longer than any shutdown takes on a busy machine. */
const patienceMs = 60_000;

const moments = ['start', 'recovery', 'migration', 'housekeeping', 'shutdown'] as const;
type Moment = (typeof moments)[number];

/** Signals at random moments of a gateway's life. It always ends properly, and the next one starts. */
export async function signals(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const scratch = mkdtempSync(join(tmpdir(), 'reeve-signals-'));
  const counts = { signals: 0, start: 0, recovery: 0, migration: 0, housekeeping: 0, shutdown: 0 };
  const findings: string[] = [];
  try {
    // Enough that housekeeping and recovery take a while, but not long.
    const busy = join(scratch, 'busy');
    await fill(busy, limits.most > 100 ? 30_000 : 1000);
    while (!isOver(limits, counts.signals) && findings.length === 0) {
      const moment = moments[counts.signals % moments.length] ?? 'start';
      const folder = folderFor(moment, { scratch, busy, chance });
      const drawn = await trySignal(moment, folder, chance);
      counts.signals++;
      counts[moment]++;
      findings.push(...drawn.map((fault) => `${moment}: ${fault}`));
      rmSync(folder, { recursive: true, force: true });
      if (counts.signals % 10 === 0) limits.say(`${counts.signals} signals, ${findings.length} findings`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return { counts, findings, notRun: [] };
}

/** A data folder with this many operations in flight, none of them with a row yet. */
async function fill(folder: string, operations: number): Promise<void> {
  mkdirSync(join(folder, 'policies'), { recursive: true });
  writeFileSync(join(folder, 'policies', 'load.yaml'), loadPolicy);
  const gateway = await TestGateway.start({ folder, env: { ...loadEnv, SVC_OPS_SWEEP_TICK_SECS: '600' } });
  const agent = await gateway.register({ agentId: 'busy' });
  for (let done = 0; done < operations; done += 500) {
    const requests = Array.from({ length: 500 }, (_, at) =>
      checkRequest(agent, { traceId: 'op', spanId: `${done + at}`, estimatedCostMicros: 10 }),
    );
    await gateway.batch(requests);
  }
  await gateway.kill('SIGKILL');
}

function folderFor(
  moment: Moment,
  { scratch, busy, chance }: { scratch: string; busy: string; chance: Chance },
): string {
  const folder = mkdtempSync(join(scratch, `${moment}-`));
  if (moment === 'migration') makeOlder(folder, 1 + chance.below(migrations.length - 1));
  else if (moment !== 'start') cpSync(busy, folder, { recursive: true });
  return folder;
}

/** A store in the form of a release that knew only the first migration steps. */
function makeOlder(folder: string, steps: number): void {
  const db = new DatabaseSync(join(folder, 'reeve.db'));
  db.exec('PRAGMA journal_mode = WAL');
  for (const step of migrations.slice(0, steps)) db.exec(step);
  db.exec(`PRAGMA user_version = ${steps}`);
  db.close();
}

async function trySignal(moment: Moment, folder: string, chance: Chance): Promise<string[]> {
  const signal = chance.oneOf(['SIGTERM', 'SIGTERM', 'SIGKILL'] as const);
  // Housekeeping and watchers should be active while the process ends.
  const env = moment === 'start' || moment === 'migration' ? {} : { ...loadEnv, SVC_OPS_STALE_SECS: '1' };
  const child = new GatewayChild({ folder, env });
  if (moment === 'housekeeping' || moment === 'shutdown') {
    if (!(await child.listens())) return [`the gateway did not start: ${(await child.ended(0))?.stderr ?? ''}`];
    await sleep(chance.between(0, 3000));
  } else {
    await sleep(chance.between(0, 1500));
  }
  const wasListening = child.isListening;
  child.signal(signal);
  if (moment === 'shutdown') {
    await sleep(chance.between(0, 200));
    child.signal(chance.oneOf(['SIGTERM', 'SIGKILL', 'SIGINT'] as const));
  }
  const faults = faultsOf(await child.ended(patienceMs), signal, wasListening && moment !== 'shutdown');
  return faults.length > 0 ? faults : tryNext(folder);
}

function faultsOf(end: ChildEnd | undefined, signal: NodeJS.Signals, wasListening: boolean): string[] {
  if (end === undefined) return [`${signal} did not end the gateway within ${patienceMs / 1000} s`];
  const { code, stderr } = end;
  const faults: string[] = [];
  if (signal === 'SIGTERM' && wasListening && code !== 0) faults.push(`${signal} while listening: exit ${code}`);
  if (/^\s+at .+:\d+:\d+\)?$/m.test(stderr)) faults.push('a stack trace on stderr');
  return faults.map((fault) => `${fault}\n${stderr.slice(-2000)}`);
}

/** The next gateway can continue with what was left behind. */
async function tryNext(folder: string): Promise<string[]> {
  const next = new GatewayChild({ folder });
  const listens = await next.listens();
  const answers = listens && (await fetch(`${next.http}/readyz`)).status === 200;
  next.signal('SIGTERM');
  const end = await next.ended(patienceMs);
  if (!listens) return [`the next start failed: ${end?.stderr.slice(-2000) ?? ''}`];
  const chain = verifyChain(folder);
  return [
    ...(answers ? [] : ['the next gateway is not ready']),
    ...(end?.code === 0
      ? []
      : [`the next gateway ended with ${end?.code}: ${end?.stderr.slice(-2000) ?? 'not at all'}`]),
    ...(chain.accepted ? [] : [`the chain is broken: ${chain.says}`]),
  ];
}
