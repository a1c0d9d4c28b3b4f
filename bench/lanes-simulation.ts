import type { Costs } from './chain-simulation.ts';
import { EventQueue } from './event-queue.ts';
import { Resource, serverCores, warmUpMicros } from './resource.ts';
import { exponential, seededRandom } from './seeded-random.ts';
import { measureWindow } from './measured-window.ts';
import { SimulatedCpu } from './simulated-cpu.ts';

/** What lanes cost beside their own commits. */
export interface LanesRun {
  readonly gateways: number;
  /** Decisions per second that are asked of all gateways together. */
  readonly rate: number;
  readonly lanes: number;
  /** How many decisions a share lasts for. Null: there is no global cap. */
  readonly shareLasts: number | null;
  /** The share of decisions that a cap of all orgs denies. Each asks the rows of all lanes. */
  readonly denied: number;
  /** Commits to the common log per second. */
  readonly commonRate: number;
  readonly costs: Costs;
  readonly seconds: number;
  readonly seed: number;
}

export interface LanesFigures {
  readonly answeredPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly commitsPerSecond: number;
  readonly takesPerSecond: number;
  /** Commits that were made again because the common log had moved. */
  readonly again: number;
  /** The share of time in which somebody holds the row of what is free. */
  readonly poolHeld: number;
  readonly busy: number;
}

/** Reading what each of so many lanes does not use, in a statement. */
const rowMicros = 0.2;

/** What one commit holds of one gateway's lanes. */
interface Batch {
  readonly askedAt: number[];
  /** Each of them moves a head. */
  readonly lanes: Set<number>;
  /** Lanes that must take a share first, and decisions that find no room. */
  takes: number;
  denials: number;
}

interface Gateway {
  readonly cpu: SimulatedCpu;
  pending: Batch;
  isCommitting: boolean;
  common: number;
}

/** Simulates lanes whose orgs are each served by one gateway: a commit holds all lanes that the gateway decided for. */
export function simulateLanes(run: LanesRun): LanesFigures {
  const { gateways, rate, lanes, shareLasts, denied, commonRate, costs, seconds, seed } = run;
  const queue = new EventQueue();
  const random = seededRandom(seed);
  const server = new Resource(queue, serverCores);
  /** The row of what is free: a transaction that takes a share holds it until it is on the disk. */
  const pool = new Resource(queue, 1);
  const latencies: number[] = [];
  const left = new Map<number, number>();
  let [commits, takes, again, common, commonUntil] = [0, 0, 0, 0, 0];
  const isCounted = () => queue.now >= warmUpMicros;
  const emptyBatch = (): Batch => ({ askedAt: [], lanes: new Set(), takes: 0, denials: 0 });
  const members = Array.from({ length: gateways }, (): Gateway => {
    return { cpu: new SimulatedCpu(queue), pending: emptyBatch(), isCommitting: false, common: 0 };
  });

  /** Whether a lane has used up its share. Each begins somewhere within one. */
  function needsShare(lane: number): boolean {
    if (shareLasts === null) return false;
    const remaining = left.get(lane) ?? Math.floor(random() * shareLasts);
    left.set(lane, remaining > 0 ? remaining - 1 : shareLasts - 1);
    return remaining === 0;
  }

  function arrive(gateway: Gateway): void {
    const askedAt = queue.now;
    gateway.cpu.call(
      () => costs.decide,
      () => {
        const { pending } = gateway;
        // Large lanes decide more often than small ones.
        const lane = Math.floor(random() ** 3 * lanes);
        pending.askedAt.push(askedAt);
        pending.lanes.add(lane);
        if (random() < denied) pending.denials++;
        else if (needsShare(lane)) pending.takes++;
        flush(gateway);
      },
    );
    queue.after(exponential(random, (1e6 * gateways) / rate), () => arrive(gateway));
  }

  function flush(gateway: Gateway): void {
    if (gateway.isCommitting || gateway.pending.askedAt.length === 0) return;
    gateway.isCommitting = true;
    const batch = gateway.pending;
    gateway.pending = emptyBatch();
    take(gateway, batch);
  }

  /** One transaction for all shares of the batch, and one read for all denials, before it is sealed. */
  function take(gateway: Gateway, batch: Batch): void {
    if (batch.takes + batch.denials === 0) {
      seal(gateway, batch);
      return;
    }
    if (isCounted()) takes += batch.takes;
    const reading = batch.denials > 0 ? costs.look + lanes * rowMicros : 0;
    queue.after(costs.roundTrip / 2, () =>
      server.take(() =>
        queue.after(reading, () => {
          server.release();
          if (batch.takes === 0) queue.after(costs.roundTrip / 2, () => seal(gateway, batch));
          else pool.take(() => move(gateway, batch));
        }),
      ),
    );
  }

  /** The server moves the row of what is free and those of the lanes, while nobody else can. */
  function move(gateway: Gateway, batch: Batch): void {
    server.take(() =>
      queue.after(costs.look + batch.takes * costs.insertEach, () => {
        server.release();
        queue.after(costs.flush, () => {
          pool.release();
          queue.after(costs.roundTrip / 2, () => seal(gateway, batch));
        });
      }),
    );
  }

  function seal(gateway: Gateway, batch: Batch): void {
    const { length } = batch.askedAt;
    gateway.cpu.urgently(
      () => costs.seal + length * costs.sealEach,
      () => {
        const known = gateway.common;
        queue.after(costs.roundTrip / 2, () => write(gateway, batch, known));
      },
    );
  }

  /** Compares the common log. Who does not know its newest commit follows it, and decides again. */
  function write(gateway: Gateway, batch: Batch, known: number): void {
    if (queue.now < commonUntil) {
      queue.after(commonUntil - queue.now, () => write(gateway, batch, known));
      return;
    }
    const { length } = batch.askedAt;
    server.take(() => {
      const isOvertaken = known < common;
      const working = isOvertaken ? costs.look : costs.insert + (length + batch.lanes.size) * costs.insertEach;
      queue.after(working, () => {
        server.release();
        if (!isOvertaken) {
          queue.after(costs.flush + costs.roundTrip / 2, () => committed(gateway, batch));
          return;
        }
        if (isCounted()) again++;
        queue.after(costs.roundTrip / 2, () =>
          followCommon(gateway, length * costs.decide, () => seal(gateway, batch)),
        );
      });
    });
  }

  function committed(gateway: Gateway, { askedAt }: Batch): void {
    gateway.isCommitting = false;
    if (isCounted()) {
      commits++;
      for (const at of askedAt) latencies.push(queue.now - at);
    }
    flush(gateway);
  }

  function followCommon(gateway: Gateway, more: number, done: () => void): void {
    const to = common;
    gateway.cpu.urgently(
      () => (to - gateway.common) * costs.follow + more,
      () => {
        gateway.common = Math.max(gateway.common, to);
        done();
      },
    );
  }

  /** It waits for the commits that are under way, and all others wait for it. */
  function sayCommon(): void {
    common++;
    commonUntil = queue.now + costs.insert + 2 * costs.flush;
    queue.after(costs.message, () => {
      for (const gateway of members) followCommon(gateway, 0, () => undefined);
    });
    queue.after(exponential(random, 1e6 / commonRate), sayCommon);
  }

  if (commonRate > 0) queue.after(exponential(random, 1e6 / commonRate), sayCommon);
  for (const gateway of members) queue.after(exponential(random, (1e6 * gateways) / rate), () => arrive(gateway));
  const { held, ...rates } = measureWindow({ queue, warmUpMicros, seconds, members, lock: pool, latencies });
  return {
    ...rates,
    commitsPerSecond: commits / seconds,
    takesPerSecond: takes / seconds,
    again: again / Math.max(1, commits + again),
    poolHeld: held,
  };
}
