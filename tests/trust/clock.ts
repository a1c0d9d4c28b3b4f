import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { Registered } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';
import { Chance } from './chance.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver } from './part.ts';

const policies = {
  'money.yaml': 'name: money\ndefault: allow\nbudget: { org_daily_limit_usd: 1000, timezone: UTC }\n',
};
const hours = 3600;
const days = 24 * hours;
/** The jumps of the clock, in seconds, in both directions. */
const jumps = [1, 60, hours, 12 * hours, days, 3 * days, 40 * days, 366 * days] as const;

interface Check {
  readonly consistent: boolean;
}
interface Budgets {
  readonly items: readonly {
    readonly tier: string;
    readonly period: string;
    readonly spent_usd: string;
    readonly resets_at: string;
  }[];
}

/** Moves the clock both ways, with and without restarts. Today's spend stays spent, and balances and log agree. */
export async function clock(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const counts = { journeys: 0, jumps: 0, restarts: 0 };
  const findings: string[] = [];
  while (!isOver(limits, counts.journeys) && findings.length === 0) {
    // Short runs stay near. Long runs go as far as real clocks have gone.
    const farthest = limits.most > 10 ? jumps.length : 3;
    findings.push(...(await travel(chance, counts, farthest)));
    counts.journeys++;
    limits.say(`${counts.journeys} journeys, ${counts.jumps} jumps, ${findings.length} findings`);
  }
  return { counts, findings, notRun: [] };
}

/** Spends, jumps, spends, perhaps restarts, and returns to the start. */
async function travel(
  chance: Chance,
  counts: { jumps: number; restarts: number },
  farthest: number,
): Promise<string[]> {
  const steps: string[] = [];
  // At noon, so that an hour either way is the same day.
  const noon = Math.floor(Date.now() / 86_400_000) * 86_400 + 12 * hours - Math.floor(Date.now() / 1000);
  const scratch = mkdtempSync(join(tmpdir(), 'reeve-clock-'));
  const clockFile = join(scratch, 'clock');
  const set = async (seconds: number) => {
    writeFileSync(clockFile, String(seconds * 1000));
    // The clock reads its file every few moments.
    await sleep(100);
  };
  await set(noon);
  const env = { NODE_OPTIONS: `--import=${resolve('tests/harness/moving-clock.mjs')}`, TEST_CLOCK_FILE: clockFile };
  let gateway = await TestGateway.start({ policies, env });
  const restart = async () => {
    counts.restarts++;
    const signal = chance.oneOf(['SIGTERM', 'SIGKILL'] as const);
    steps.push(`restart by ${signal}`);
    gateway = await gateway.restart(signal, { env });
  };
  try {
    const agent = await gateway.register({ agentId: 'traveller' });
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
    const faults = await faultsOf(gateway, Date.now() + noon * 1000);
    return faults.map((fault) => `${fault}, after: ${steps.join(', ')}`);
  } catch (error) {
    return [`${String(error)}, after: ${steps.join(', ')}`];
  } finally {
    await gateway[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function spend(gateway: TestGateway, agent: Registered, micros: number): Promise<void> {
  const { opId, decision, reason } = await gateway.check(agent, { estimatedCostMicros: micros });
  if (decision !== 1) throw new Error(`a check is refused: ${reason}`);
  await gateway.complete(agent, opId, { actualCostMicros: micros });
}

async function faultsOf(gateway: TestGateway, noon: number): Promise<string[]> {
  const { body, text } = await gateway.api.get<Check>('/api/v1/budgets/verify', bootstrapKey);
  const budgets = await gateway.api.get<Budgets>('/api/v1/budgets?org_id=acme', bootstrapKey);
  const row = budgets.body.items.find(({ tier, period }) => tier === 'org' && period === 'day');
  // After a small step back, the gateway stays in the day that had begun until the clock catches up.
  const isLater = Date.parse(row?.resets_at ?? '') > noon + 12 * hours * 1000;
  const chain = verifyChain(gateway.folder);
  return [
    ...(body.consistent ? [] : [`books and log do not agree: ${text}`]),
    ...(Number(row?.spent_usd) >= 0.5 || isLater
      ? []
      : [`0.50 USD were spent today, and the books say ${row?.spent_usd}`]),
    ...(chain.accepted ? [] : [`the chain is broken: ${chain.says}`]),
  ];
}
