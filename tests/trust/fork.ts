import { sleepThroughLoss } from '../cluster/fork.ts';
import { Chance } from './chance.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver } from './part.ts';

/** The most commits that a failover loses here. */
const mostLost = 20;

/** PostgreSQL fails over and loses commits, while a gateway sleeps that knows them. It must not go on from them. */
export async function fork(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const counts = { failovers: 0, 'lost commits': 0 };
  const findings: string[] = [];
  while (!isOver(limits, counts.failovers) && findings.length === 0) {
    const loss = { lost: 1 + chance.below(mostLost), beyond: chance.below(12) - 4 };
    const wrong = await sleepThroughLoss(loss);
    counts.failovers++;
    counts['lost commits'] += loss.lost;
    findings.push(...wrong.map((each) => `${each}, after a failover: ${JSON.stringify(loss)}`));
    limits.say(`${counts.failovers} failovers, ${findings.length} findings`);
  }
  return { counts, findings, notRun: [] };
}
