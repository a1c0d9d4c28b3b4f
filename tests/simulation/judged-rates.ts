import { Broken } from './broken.ts';
import { rates } from './policies.ts';

/** What the log says of rates: when each tenant was allowed or held. */
export class JudgedRates {
  readonly #times = new Map<string, number[]>();

  /** A check counts. No window that holds it may have more than the maximum, whichever gateways decided. */
  count(seq: number, agent: string, delegators: readonly string[], at: number): void {
    for (const { name, windowMs, max } of ratesOf(agent, delegators)) {
      const times = this.#times.get(name) ?? [];
      this.#times.set(name, times);
      const place = placeOf(times, at);
      times.splice(place, 0, at);
      for (let first = Math.max(0, place - max); first <= place && first + max < times.length; first++) {
        const [from = 0, to = 0] = [times[first], times[first + max]];
        if (to - from < windowMs) throw new Broken(`entry ${seq}: ${max + 1} checks of ${name} in ${to - from} ms`);
      }
    }
  }

  /** A check that a rate refuses finds it used up, at this place of the log. */
  requireUsedUp(seq: number, agent: string, delegators: readonly string[], at: number): void {
    const isUsedUp = ratesOf(agent, delegators).some(({ name, windowMs, max }) => {
      const stepMs = Math.ceil(windowMs / stepsOfWindow);
      const times = this.#times.get(name) ?? [];
      // Clocks of gateways differ, so what is ahead counts as well.
      const counts = times.slice(placeOf(times, at - windowMs - stepMs)).filter((time) => time <= at + windowMs);
      return counts.length >= max;
    });
    if (!isUsedUp) throw new Broken(`entry ${seq}: a rate refuses ${agent}, and has room`);
  }
}

/** A window is counted in so many steps. A check counts until its whole step is over. */
const stepsOfWindow = 4096;

/** The rates that count a check: those of its agent and its org, and of each agent on whose behalf it happens. */
function ratesOf(agent: string, delegators: readonly string[]) {
  const [org = ''] = agent.split('/');
  return rates.flatMap(({ per, windowMs, max }) => {
    const whose = per === 'agent' ? [agent, ...delegators] : [org];
    return whose.map((one) => ({ name: `${per} ${one} ${windowMs}`, windowMs, max }));
  });
}

function placeOf(times: readonly number[], at: number): number {
  let place = times.length;
  while (place > 0 && (times[place - 1] ?? 0) > at) place--;
  return place;
}
