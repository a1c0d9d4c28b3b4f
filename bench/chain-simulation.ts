import { EventQueue } from './event-queue.ts';
import { Resource, serverCores, warmUpMicros } from './resource.ts';
import { exponential, seededRandom } from './seeded-random.ts';
import { measureWindow } from './measured-window.ts';
import { SimulatedCpu } from './simulated-cpu.ts';

/** How gateways commit. Only `chain` is built. */
export type Mode =
  /** One chain, as in `adapters/postgres/writer.ts`. */
  | 'chain'
  /** The same, but a gateway follows what it hears while it waits, and locks the head at once if it was overtaken. */
  | 'chain-following-early'
  /** A chain for each gateway, and each follows all others. Where nobody follows anybody: `lanes-simulation.ts`. */
  | 'lanes';

/** Times in microseconds. */
export interface Costs {
  /** Deciding one check: the thread of the gateway. */
  readonly decide: number;
  /** Sealing and writing: for each commit, and for each decision in it. */
  readonly seal: number;
  readonly sealEach: number;
  /** Following a commit of another gateway, and each decision in it. */
  readonly follow: number;
  readonly followEach: number;
  /** The server's work for each commit and each entry. The head is locked meanwhile. */
  readonly insert: number;
  readonly insertEach: number;
  /** Until the commit is on the server's disk. The head is locked meanwhile. */
  readonly flush: number;
  /** A statement of the server that writes nothing. */
  readonly look: number;
  readonly roundTrip: number;
  /** Until a message has reached the other gateways. */
  readonly message: number;
}

export interface ChainRun {
  readonly mode: Mode;
  readonly gateways: number;
  /** Decisions per second that are asked of each gateway. */
  readonly ratePerGateway: number;
  readonly costs: Costs;
  readonly seconds: number;
  readonly seed: number;
}

export interface ChainFigures {
  readonly answeredPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly decisionsPerCommit: number;
  readonly commitsPerSecond: number;
  /** The share of time in which somebody holds the head. */
  readonly headHeld: number;
  /** Busiest thread of a gateway, as a share of the time. */
  readonly busy: number;
  /** Commits that found another gateway ahead of them. */
  readonly overtaken: number;
}

interface Gateway {
  readonly index: number;
  readonly cpu: SimulatedCpu;
  /** When the decisions that wait for a commit were asked for. */
  pending: number[];
  isCommitting: boolean;
  isWaitingForHead: boolean;
  isFollowing: boolean;
  wasOvertaken: boolean;
  /** The newest commit that it has followed or made, and has heard of. */
  known: number;
  heard: number;
}

/** Simulates gateways that commit to one PostgreSQL. */
export function simulateChain({ mode, gateways, ratePerGateway, costs, seconds, seed }: ChainRun): ChainFigures {
  const queue = new EventQueue();
  const random = seededRandom(seed);
  const isOneChain = mode === 'chain' || mode === 'chain-following-early';
  const head = new Resource(queue, 1);
  const server = new Resource(queue, serverCores);
  /** The decisions of each commit, and their sums up to it. */
  const sizes = [0];
  const latencies: number[] = [];
  let [commits, overtaken] = [0, 0];
  const members = Array.from({ length: gateways }, (_, index): Gateway => {
    const cpu = new SimulatedCpu(queue);
    const flags = { isCommitting: false, isWaitingForHead: false, isFollowing: false, wasOvertaken: false };
    return { index, cpu, pending: [], ...flags, known: 0, heard: 0 };
  });

  const newest = () => sizes.length - 1;
  const costOfFollowing = (from: number, to: number) =>
    (to - from) * costs.follow + ((sizes[to] ?? 0) - (sizes[from] ?? 0)) * costs.followEach;
  const isCounted = () => queue.now >= warmUpMicros;

  function arrive(gateway: Gateway): void {
    const askedAt = queue.now;
    gateway.cpu.call(
      () => costs.decide,
      () => {
        gateway.pending.push(askedAt);
        flush(gateway);
      },
    );
    queue.after(exponential(random, 1e6 / ratePerGateway), () => arrive(gateway));
  }

  function flush(gateway: Gateway): void {
    if (gateway.isCommitting || gateway.pending.length === 0) return;
    gateway.isCommitting = true;
    if (mode === 'chain-following-early' && gateway.wasOvertaken) {
      const batch = gateway.pending;
      gateway.pending = [];
      queue.after(costs.roundTrip / 2, () => lockHead(gateway, batch));
      return;
    }
    let batch: number[] = [];
    const take = () => {
      batch = gateway.pending;
      gateway.pending = [];
      return costs.seal + batch.length * costs.sealEach;
    };
    gateway.cpu.urgently(take, () => {
      const { known } = gateway;
      queue.after(costs.roundTrip / 2, () => (isOneChain ? tryHead(gateway, batch, known) : write(gateway, batch)));
    });
  }

  /** The one statement that moves the head if nobody else has. */
  function tryHead(gateway: Gateway, batch: readonly number[], known: number): void {
    head.take(() => {
      if (known === newest()) {
        queue.after(costs.insert + batch.length * costs.insertEach + costs.flush, () => {
          committed(gateway, batch);
          head.release();
        });
        return;
      }
      queue.after(costs.look, () => {
        head.release();
        gateway.wasOvertaken = true;
        queue.after(costs.roundTrip, () => lockHead(gateway, batch));
      });
    });
  }

  /** Another gateway was first: this one locks the head, follows, and commits under that lock. */
  function lockHead(gateway: Gateway, batch: readonly number[]): void {
    const knownWhenAsked = gateway.known;
    gateway.isWaitingForHead = mode === 'chain-following-early';
    if (gateway.isWaitingForHead) followHeard(gateway);
    head.take(() => {
      const missed = newest();
      gateway.wasOvertaken = missed > knownWhenAsked;
      if (isCounted() && gateway.wasOvertaken) overtaken++;
      queue.after(costs.look + costs.roundTrip / 2, () => {
        gateway.isWaitingForHead = false;
        const cost = () =>
          costOfFollowing(Math.min(gateway.known, missed), missed) + costs.seal + batch.length * costs.sealEach;
        gateway.cpu.urgently(cost, () => {
          gateway.known = missed;
          const writing = costs.roundTrip / 2 + costs.insert + batch.length * costs.insertEach + costs.flush;
          queue.after(writing, () => {
            committed(gateway, batch);
            head.release();
          });
        });
      });
    });
  }

  /** A commit to a chain that nobody else writes. Commits of several chains share the disk's flush. */
  function write(gateway: Gateway, batch: readonly number[]): void {
    server.take(() => {
      queue.after(costs.insert + batch.length * costs.insertEach, () => {
        server.release();
        queue.after(costs.flush, () => committed(gateway, batch));
      });
    });
  }

  function committed(gateway: Gateway, batch: readonly number[]): void {
    const version = sizes.push((sizes.at(-1) ?? 0) + batch.length) - 1;
    if (isCounted()) commits++;
    queue.after(costs.roundTrip / 2, () => {
      if (isOneChain) gateway.known = version;
      gateway.isCommitting = false;
      if (isCounted()) {
        for (const askedAt of batch) latencies.push(queue.now - askedAt);
      }
      if (mode === 'chain-following-early') followHeard(gateway);
      flush(gateway);
      followHeard(gateway);
      queue.after(costs.message, () => {
        for (const other of members) if (other !== gateway) hear(other, version, batch.length);
      });
    });
  }

  function hear(gateway: Gateway, version: number, size: number): void {
    if (isOneChain) {
      gateway.heard = Math.max(gateway.heard, version);
      followHeard(gateway);
    } else {
      const cost = () => costs.follow + size * costs.followEach;
      gateway.cpu.urgently(cost, () => undefined);
    }
  }

  /** Follows what is at hand, unless a commit is under way, which will find it. */
  function followHeard(gateway: Gateway): void {
    const mayFollow = !gateway.isCommitting || gateway.isWaitingForHead;
    if (!mayFollow || gateway.isFollowing || gateway.heard <= gateway.known) return;
    gateway.isFollowing = true;
    let to = 0;
    const cost = () => {
      to = gateway.heard;
      return costOfFollowing(Math.min(gateway.known, to), to);
    };
    gateway.cpu.urgently(cost, () => {
      gateway.isFollowing = false;
      gateway.known = Math.max(gateway.known, to);
      followHeard(gateway);
    });
  }

  for (const gateway of members) queue.after(exponential(random, 1e6 / ratePerGateway), () => arrive(gateway));
  const { held, ...rates } = measureWindow({ queue, warmUpMicros, seconds, members, lock: head, latencies });
  return {
    ...rates,
    decisionsPerCommit: latencies.length / Math.max(1, commits),
    commitsPerSecond: commits / seconds,
    headHeld: held,
    overtaken: overtaken / Math.max(1, commits),
  };
}
