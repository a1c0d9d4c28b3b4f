import type { Batch } from '@reeve/core';
import { Broken } from './broken.ts';
import { filePolicy } from './policies.ts';
import type { Random } from './random.ts';
import type { LaterForms, Release } from './releases.ts';
import { settled } from './requirements.ts';
import { VirtualClock, VirtualTime } from './virtual-clock.ts';
import { VirtualGateway } from './virtual-gateway.ts';
import type { VirtualMember } from './virtual-log.ts';
import { VirtualLog } from './virtual-log.ts';

/** A gateway of a cluster. */
export type ClusterGateway = VirtualGateway<VirtualMember>;

/** A gateway that waits for others does not come to an end. */
const mostRounds = 20;

/** Several gateways on one log. They start, end and come to rest here; a simulation says when. */
export class Cluster {
  readonly time = new VirtualTime();
  readonly log: VirtualLog;
  readonly gateways: ClusterGateway[] = [];
  crashes = 0;
  readonly #random: Random;
  #started = 0;
  #failure: unknown;

  /** `onWritten` is called with each commit. What it throws is told to the simulation, and not to the gateway at hand. */
  constructor(random: Random, laterForms: LaterForms, onWritten: (batch: Batch, by: VirtualMember) => void) {
    this.#random = random;
    this.log = new VirtualLog(
      (batch, by) => {
        try {
          onWritten(batch, by);
        } catch (error) {
          this.fail(error);
        }
      },
      random,
      laterForms,
    );
  }

  /** Something was promised and did not hold. The first of them counts. */
  fail(error: unknown): void {
    this.#failure ??= error;
  }

  async start(place: number, release: Release): Promise<ClusterGateway> {
    const gateway = await VirtualGateway.start({
      name: `gateway ${++this.#started}`,
      ground: this.log.join(release),
      clock: new VirtualClock(this.time, this.#random.int(4000) - 2000),
      policy: filePolicy,
      onFailed: (error) => this.fail(error),
    });
    this.gateways[place] = gateway;
    return gateway;
  }

  /** A gateway ends in the middle of all that it does. */
  end(place: number): boolean {
    const gateway = this.gateways[place];
    if (gateway === undefined) return false;
    this.crashes++;
    this.log.leave(gateway.ground, this.#random);
    return true;
  }

  /** One that has joined last leaves again. */
  dismiss(): void {
    const last = this.gateways.pop();
    if (last !== undefined) this.log.leave(last.ground, this.#random);
  }

  isIdle(gateway: ClusterGateway): boolean {
    return gateway.isIdle && !this.log.isAsking(gateway.ground);
  }

  /** Lets everything happen that waits for nothing but its turn, and hears what was wrong with it. */
  async settled(): Promise<void> {
    await settled();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Lets a gateway read what it waits for. What it does is not committed yet. */
  async hears({ ground }: ClusterGateway): Promise<void> {
    await this.settled();
    while (this.log.workFor(ground, 'done', 'reads')) await this.settled();
  }

  /** Lets a gateway end what it does, while the others wait. `fate`: what becomes of what it asks for next. */
  async finishes(gateway: ClusterGateway, fate: 'done' | 'refused' = 'done'): Promise<void> {
    await this.hears(gateway);
    gateway.endTurn();
    await this.settled();
    this.log.workFor(gateway.ground, fate);
    for (let round = 0; round < mostRounds && !this.isIdle(gateway); round++) {
      await this.settled();
      gateway.endTurn();
      while (this.log.workFor(gateway.ground, 'done')) await this.settled();
    }
  }

  /** Lets everything end that is under way, and everybody follow. */
  async calm(): Promise<void> {
    for (let round = 0; round < 200; round++) {
      for (const gateway of this.gateways) gateway.endTurn();
      while (this.log.waiting > 0) {
        const before = this.log.waiting;
        for (let nth = 0; nth < this.log.waiting; nth++) this.log.work(nth, 'done');
        await this.settled();
        if (this.log.waiting >= before) this.log.dropLock();
      }
      while (this.log.underWay > 0) this.log.deliver(0, false);
      for (const { gov } of this.gateways) gov.journal.followReady();
      await this.settled();
      if (this.gateways.every((gateway) => this.isIdle(gateway) && gateway.isUp)) {
        for (const { gov } of this.gateways) void gov.journal.catchUp();
        for (let nth = 0; nth < 20 && this.log.waiting > 0; nth++) {
          this.log.work(0, 'done');
          await this.settled();
        }
        if (this.gateways.every(({ ground }) => ground.version === this.log.version)) return;
      }
    }
    throw new Broken('the gateways do not come to rest');
  }
}
