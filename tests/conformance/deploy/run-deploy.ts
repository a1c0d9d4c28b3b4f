import { tryAlerts } from './alerts.ts';
import { tryBalancer } from './balancer.ts';
import { tryChart } from './chart.ts';
import { tryImage } from './image.ts';
import { tryPointInTime } from './point-in-time.ts';
import type { DeployResult, Trials } from './trials.ts';
import { tryUnit } from './unit.ts';

const parts = {
  image: tryImage,
  chart: tryChart,
  'load balancer': tryBalancer,
  'alerts and dashboard': tryAlerts,
  'systemd unit': tryUnit,
  'point-in-time recovery': tryPointInTime,
} as const satisfies Record<string, (trials: Trials) => Promise<void>>;

export async function runDeploy(
  trialsOf: Pick<Trials, 'say' | 'uses' | 'missing'>,
  tell: (result: DeployResult) => void,
): Promise<void> {
  for (const [part, run] of Object.entries(parts)) {
    const trial: Trials['trial'] = async (name, work) => {
      const failure = await failureOf(work);
      tell({ part, name, failure });
    };
    const failure = await failureOf(() => run({ ...trialsOf, trial }));
    if (failure !== undefined) tell({ part, name: 'the part was tried to its end', failure });
  }
}

async function failureOf(work: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return text.trim().split('\n').slice(-3).join(' ').slice(0, 300);
  }
}
