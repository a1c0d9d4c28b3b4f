import { Broken } from './broken.ts';
import { rates } from './policies.ts';

/** What the log says of rates: when each tenant was allowed or held. */
export class JudgedRates {
  readonly #times = new Map<string, number[]>();

  /** A check counts. No window that holds it may have more than the maximum, whichever gateways decided. */
  count(seq: number, agent: string, at: number): void {
    const [org = ''] = agent.split('/');
    for (const { per, windowMs, max } of rates) {
      const name = `${per} ${per === 'agent' ? agent : org} ${windowMs}`;
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
}

function placeOf(times: readonly number[], at: number): number {
  let place = times.length;
  while (place > 0 && (times[place - 1] ?? 0) > at) place--;
  return place;
}
