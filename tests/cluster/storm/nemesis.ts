import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../trust/chance.ts';
import type { Cluster } from './cluster.ts';

/** Breaks things by a schedule that follows from the seed, and mends them again. */
export class Nemesis {
  readonly #cluster: Cluster;
  readonly #chance: Chance;
  readonly #startedAt = performance.now();
  /** What it did, and when. */
  readonly deeds: string[] = [];

  constructor(cluster: Cluster, chance: Chance) {
    this.#cluster = cluster;
    this.#chance = chance;
  }

  /** Four lanes, so that troubles of different kinds overlap. All is mended when this resolves. */
  async rage(isOver: () => boolean): Promise<void> {
    const lanes = [this.#processes, this.#links, this.#losses, this.#servers];
    await Promise.all(lanes.map((lane) => lane.call(this, this.#chance.fork(), isOver)));
  }

  async #processes(chance: Chance, isOver: () => boolean): Promise<void> {
    for (let nth = chance.below(2); ; nth++) {
      await sleep(chance.between(500, 2000));
      if (isOver()) return;
      const node = this.#nodeBy(chance);
      if (nth % 2 === 0) {
        await this.#do(`kill ${node.name}`, () => node.killFor(chance.between(0, 1500)));
      } else {
        // Longer than the takeover of three seconds.
        await this.#do(`freeze ${node.name}`, () => node.freezeFor(chance.between(3500, 6000)));
      }
    }
  }

  async #links(chance: Chance, isOver: () => boolean): Promise<void> {
    for (;;) {
      await sleep(chance.between(300, 1500));
      if (isOver()) return;
      const node = this.#nodeBy(chance);
      const which = chance.oneOf(['NATS', 'PostgreSQL', 'both'] as const);
      const how = chance.oneOf(['cut', 'silence'] as const);
      const links = { NATS: [node.toNats], PostgreSQL: [node.toPostgres], both: [node.toNats, node.toPostgres] }[which];
      // Now and then so long that a gateway gives up on what it has sent, which then arrives after all.
      const ms = chance.happens(0.15) ? chance.between(11_000, 14_000) : chance.between(500, 4500);
      const work = async () => {
        for (const link of links) link[how]();
        await sleep(ms);
        for (const link of links) link.mend();
      };
      await this.#do(`${how} ${which} of ${node.name}`, () => (which === 'NATS' ? work() : node.withoutDatabase(work)));
    }
  }

  /** Loses what a gateway sends to the database, or what it is answered, and then the connection. */
  async #losses(chance: Chance, isOver: () => boolean): Promise<void> {
    for (;;) {
      await sleep(chance.between(1500, 5000));
      if (isOver()) return;
      const node = this.#nodeBy(chance);
      const what = chance.oneOf(['requests', 'answers'] as const);
      // So short that clients still wait when their gateway finds out what became of its commit.
      const ms = chance.between(100, 1200);
      // Another lane has its hands on the link.
      if (node.isApart) continue;
      await this.#do(`lose ${what} of ${node.name}`, () =>
        node.withoutDatabase(async () => {
          if (what === 'requests') node.toPostgres.silence();
          else node.toPostgres.loseAnswers();
          await sleep(ms);
          node.toPostgres.cut();
          node.toPostgres.mend();
        }),
      );
    }
  }

  async #servers(chance: Chance, isOver: () => boolean): Promise<void> {
    const { nats, postgres } = this.#cluster;
    for (;;) {
      await sleep(chance.between(3000, 9000));
      if (isOver()) return;
      if (chance.happens(0.5)) {
        await this.#do('restart NATS', async () => {
          await nats.stop();
          await sleep(chance.between(0, 1500));
          await nats.start();
        });
      } else {
        await this.#do('crash PostgreSQL', async () => {
          const work = async () => {
            await postgres.halt({ isCrash: true });
            await sleep(chance.between(0, 700));
            await postgres.resume();
          };
          const working = work();
          await Promise.all(this.#cluster.nodes.map((node) => node.withoutDatabase(() => working)));
        });
      }
    }
  }

  #nodeBy(chance: Chance) {
    const [first, ...others] = this.#cluster.nodes;
    if (first === undefined) throw new Error('there is no gateway');
    return chance.oneOf([first, ...others]);
  }

  async #do(deed: string, work: () => Promise<void>): Promise<void> {
    const from = this.#seconds();
    await work();
    this.deeds.push(`${from} to ${this.#seconds()} s: ${deed}`);
  }

  #seconds(): string {
    return ((performance.now() - this.#startedAt) / 1000).toFixed(1);
  }
}
