import type { Noting } from '../../journal/index.ts';
import { watched } from '../../journal/index.ts';
import type { AgentId, Sha256 } from '../../kernel/index.ts';
import type { TierOf } from '../tier.ts';
import type { Rate, RateKey } from './rate.ts';
import { counterName, rateKey, readRateKey, subjectOf } from './rate.ts';
import type { KnownRates, RateCounters } from './rate-counters.ts';

/** The counter of a rate for a tenant, under the name by which turns rest on it. */
function nameOf(of: TierOf, key: RateKey): string {
  return `rate ${counterName(of, key)}`;
}

/** The counters of an agent that a check counts for. */
export function countersOf(agent: AgentId, keys: readonly RateKey[]): string[] {
  return keys.flatMap((key) => {
    const tier = readRateKey(key)?.tier;
    const of = tier === undefined ? undefined : subjectOf(agent, tier);
    return of === undefined ? [] : [nameOf(of, key)];
  });
}

/** Notes what rules read of rates. Checks commute as long as there is room for them. A refusal rests on what was counted. */
export function watchedRates(rates: RateCounters, journal: Noting): RateCounters {
  const namesOf = (agent: AgentId, counting: readonly Rate[], sha256: Sha256) =>
    countersOf(
      agent,
      counting.map((rate) => rateKey(rate, sha256)),
    );
  const rest = (names: readonly string[]) => {
    for (const name of names) journal.reads({ name });
  };
  const seen: KnownRates = {
    exceededBy: (agent, counting, now, sha256) => {
      const exceeded = rates.exceededBy(agent, counting, now, sha256);
      const names = namesOf(agent, counting, sha256);
      if (exceeded !== undefined) rest(names);
      else {
        // Room here is not enough: other gateways count, too.
        journal.onlyWhile((changed) =>
          names.some((name) => changed.has(name))
            ? rates.isWithin(agent, counting, now, sha256)
            : rates.exceededBy(agent, counting, now, sha256) === undefined,
        );
      }
      return exceeded;
    },
    approachedBy: (agent, counting, now, sha256) => {
      const approached = rates.approachedBy(agent, counting, now, sha256);
      // Each share is told once, by whichever gateway notices first.
      if (approached.length > 0) rest(namesOf(agent, counting, sha256));
      return approached;
    },
    ofAgent: (agent, counting, sha256) => {
      rest(namesOf(agent, counting, sha256));
      return rates.ofAgent(agent, counting, sha256);
    },
    read: (of, rate, now, sha256) => {
      rest([nameOf(of, rateKey(rate, sha256))]);
      return rates.read(of, rate, now, sha256);
    },
  };
  return watched(rates, seen);
}
