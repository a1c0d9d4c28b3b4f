import { goProgram } from '../conformance/tools.ts';
import { faultsIn } from '../simulation/linearizable/check-history.ts';
import { linesOf, madeHistories } from '../simulation/linearizable/made-histories.ts';
import { Simulation } from '../simulation/simulation.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver } from './part.ts';

const stepsOfASeed = 8000;

/** Simulates clusters, and lets Porcupine decide whether what callers were told is linearizable. */
export async function histories(limits: Limits): Promise<Outcome> {
  const tool = await goProgram('tests/simulation/linearizable', 'linearizable', limits.say);
  if ('missing' in tool) return { counts: {}, findings: [], notRun: [tool.missing] };
  const findings = madeHistories
    .filter((made) => (faultsIn(tool.path, linesOf(made)).length === 0) !== made.isRight)
    .map(({ name }) => `the tool does not tell what is right: ${name}`);
  let clusters = 0;
  let calls = 0;
  while (!isOver(limits, clusters) && findings.length === 0) {
    const seed = limits.seed + clusters++;
    const simulation = new Simulation(seed, { keepsHistory: true });
    await simulation.run(stepsOfASeed);
    const lines = simulation.history.finish();
    calls += lines.length / 2;
    const again = `npm run simulate -- --seed ${seed} --steps ${stepsOfASeed} --history FILE`;
    findings.push(...faultsIn(tool.path, lines).map((fault) => `${fault}: ${again}`));
    limits.say(`${clusters} clusters, ${calls} calls, ${findings.length} findings`);
  }
  return { counts: { clusters, calls }, findings, notRun: [] };
}
