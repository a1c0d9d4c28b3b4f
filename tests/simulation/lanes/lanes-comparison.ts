import { Broken } from '../broken.ts';
import { sha256 } from '../random.ts';
import type { LaneState } from './lane-state.ts';
import { accountOf } from './lane-state.ts';
import type { LanesDatabase } from './lanes-database.ts';
import type { LanesGateway } from './lanes-gateway.ts';
import type { LanesJudge } from './lanes-judge.ts';

/** Compares what the database and gateways hold with each other, and with what the judge has read. */
export class LanesComparison {
  readonly counts = { compared: 0, alike: 0 };
  readonly #database: LanesDatabase;
  readonly #judge: LanesJudge;
  /** What somebody held, by where it stood. */
  readonly #known = new Map<string, string>();

  constructor(database: LanesDatabase, judge: LanesJudge) {
    this.#database = database;
    this.#judge = judge;
  }

  /** What is free, used and held makes the cap, on every day. What rows count is what the logs book. */
  requireSums(): void {
    const { pools, lanes, state } = this.#database;
    for (const [day, { free }] of pools) {
      let [used, held] = [0, 0];
      for (const { head } of lanes.values()) {
        const account = accountOf(head, day);
        used += account.used;
        held += account.idle + account.due;
        if (account.idle < 0 || account.due < 0) throw new Broken(`day ${day}: a lane holds less than nothing`);
      }
      if (free + used + held !== state.cap)
        throw new Broken(`day ${day}: ${free} free, ${used} used and ${held} held do not make the cap of ${state.cap}`);
      if (used !== this.#judge.used(day))
        throw new Broken(`day ${day}: rows count ${used}, and the logs book ${this.#judge.used(day)}`);
    }
  }

  /** Whoever stands at the same place holds the same. */
  requireAlike(gateways: readonly LanesGateway[]): void {
    for (const gateway of gateways) {
      for (const lane of gateway.served) {
        const held = gateway.lane(lane);
        const place = `lane ${lane} at ${held.version}, common log at ${gateway.common.version}`;
        const digest = digestOf(held);
        const known = this.#known.get(place);
        this.counts.compared++;
        if (known === undefined) this.#known.set(place, digest);
        else if (known !== digest) throw new Broken(`two gateways differ: ${place}`);
        else this.counts.alike++;
      }
    }
  }
}

function digestOf({ ops, accounts, spent, ...counts }: LaneState): string {
  const lists = [ops, accounts, spent].map((map) => [...map].map((item) => JSON.stringify(item)).sort());
  return sha256(JSON.stringify([counts, lists]));
}
