import { Chance } from '../trust/chance.ts';
import type { Limits, Outcome } from '../trust/part.ts';
import { isOver } from '../trust/part.ts';
import { unseenIn } from './compare.ts';
import { drawLine } from './draw-line.ts';
import { Jail, isInstalled } from './jail.ts';

const shells = (['bash', 'dash'] as const).filter(isInstalled);
const atOnce = 2;

/** Draws lines, runs those that the hook understands, and compares. */
export async function fuzzLines(limits: Limits): Promise<Outcome> {
  using jail = new Jail();
  const chance = new Chance(limits.seed);
  const findings: string[] = [];
  let lines = 0;
  let compared = 0;
  const work = async () => {
    while (!isOver(limits, lines) && findings.length < 20) {
      lines++;
      const line = drawLine(chance);
      for (const shell of shells) {
        const unseen = await unseenIn(line, shell, jail);
        if (unseen !== undefined) compared++;
        if (unseen !== undefined && unseen.length > 0) {
          findings.push(`${shell} runs ${unseen.join(', ')} unseen: ${JSON.stringify(line)}`);
          limits.say(findings.at(-1) ?? '');
        }
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const missing = (['bash', 'dash'] as const).filter((shell) => !isInstalled(shell));
  return {
    counts: { lines, 'lines compared': compared },
    findings,
    notRun: missing.map((shell) => `${shell} is not there`),
  };
}
