import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { Registered } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';
import { Chance } from './chance.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver } from './part.ts';

const libraries = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`);
const policies = {
  'money.yaml': 'name: money\ndefault: allow\nbudget: { org_daily_limit_usd: 1000, timezone: UTC }\n',
};
const hours = 3600;
const days = 24 * hours;
/** By which the clock jumps, in seconds, each way. */
const jumps = [1, 60, hours, 12 * hours, days, 3 * days, 40 * days, 366 * days] as const;

interface Check {
  readonly consistent: boolean;
}
interface Budgets {
  readonly items: readonly { readonly tier: string; readonly period: string; readonly spent_usd: string }[];
}

/** The clock forwards and back, with and without restarts: what was spent today stays spent, and books and log agree. */
export async function clock(limits: Limits): Promise<Outcome> {
  const library = libraries.find((path) => existsSync(path));
  if (library === undefined) {
    return { counts: {}, findings: [], notRun: ['the clock: libfaketime is not there (Debian: faketime)'] };
  }
  const chance = new Chance(limits.seed);
  const counts = { journeys: 0, jumps: 0, restarts: 0 };
  const findings: string[] = [];
  while (!isOver(limits, counts.journeys) && findings.length === 0) {
    // The first journeys stay near; those after go as far as clocks have been seen to go.
    const farthest = limits.most > 10 ? jumps.length : 3;
    findings.push(...(await travel(library, chance, counts, farthest)));
    counts.journeys++;
    limits.say(`${counts.journeys} journeys, ${counts.jumps} jumps, ${findings.length} findings`);
  }
  return { counts, findings, notRun: [] };
}

/** Spends, jumps, spends, perhaps restarts, and comes back to where it began. */
async function travel(
  library: string,
  chance: Chance,
  counts: { jumps: number; restarts: number },
  farthest: number,
): Promise<string[]> {
  const steps: string[] = [];
  // At noon, so that an hour either way is the same day.
  const noon = Math.floor(Date.now() / 86_400_000) * 86_400 + 12 * hours - Math.floor(Date.now() / 1000);
  let offset = noon;
  let gateway = await TestGateway.start({ policies, env: { ...envOf(library), FAKETIME: offsetText(offset) } });
  const clockFile = join(gateway.folder, 'clock');
  const set = async (seconds: number) => {
    offset = seconds;
    writeFileSync(clockFile, offsetText(offset));
    // The library looks at the file once a second.
    await sleep(1100);
  };
  const restart = async () => {
    counts.restarts++;
    const signal = chance.oneOf(['SIGTERM', 'SIGKILL'] as const);
    steps.push(`restart by ${signal}`);
    writeFileSync(clockFile, offsetText(offset));
    gateway = await gateway.restart(signal, { env: { ...envOf(library), FAKETIME_TIMESTAMP_FILE: clockFile } });
  };
  try {
    const agent = await gateway.register({ agentId: 'traveller' });
    await restart();
    await spend(gateway, agent, 500_000);
    for (let nth = 1 + chance.below(3); nth > 0; nth--) {
      const jump = (chance.oneOf(jumps.slice(0, farthest)) ?? 1) * (chance.happens(0.7) ? 1 : -1);
      steps.push(`jump by ${jump} s`);
      await set(noon + jump);
      counts.jumps++;
      if (chance.happens(0.5)) await restart();
      if (chance.happens(0.7)) await spend(gateway, agent, 10_000);
      steps.push('spend');
    }
    await set(noon);
    steps.push('back');
    if (chance.happens(0.7)) await restart();
    const faults = await faultsOf(gateway);
    return faults.map((fault) => `${fault}, after: ${steps.join(', ')}`);
  } catch (error) {
    return [`${String(error)}, after: ${steps.join(', ')}`];
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
}

async function spend(gateway: TestGateway, agent: Registered, micros: number): Promise<void> {
  const { opId, decision, reason } = await gateway.check(agent, { estimatedCostMicros: micros });
  if (decision !== 1) throw new Error(`a check is refused: ${reason}`);
  await gateway.complete(agent, opId, { actualCostMicros: micros });
}

async function faultsOf(gateway: TestGateway): Promise<string[]> {
  const { body, text } = await gateway.api.get<Check>('/api/v1/budgets/verify', bootstrapKey);
  const budgets = await gateway.api.get<Budgets>('/api/v1/budgets?org_id=acme', bootstrapKey);
  const row = budgets.body.items.find(({ tier, period }) => tier === 'org' && period === 'day');
  const chain = verifyChain(gateway.folder);
  return [
    ...(body.consistent ? [] : [`books and log do not agree: ${text}`]),
    ...(Number(row?.spent_usd) >= 0.5 ? [] : [`0.50 USD were spent on this day, and the books say ${row?.spent_usd}`]),
    ...(chain.accepted ? [] : [`the chain is broken: ${chain.says}`]),
  ];
}

/** Waits and ages are measured on the monotonic clock, which stays as it is. */
function envOf(library: string): Record<string, string> {
  return { LD_PRELOAD: library, FAKETIME_DONT_FAKE_MONOTONIC: '1', FAKETIME_CACHE_DURATION: '1' };
}

function offsetText(seconds: number): string {
  return `${seconds < 0 ? '' : '+'}${seconds}`;
}
