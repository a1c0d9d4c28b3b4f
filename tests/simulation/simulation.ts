import { installFirstKey } from '@reeve/core';
import { register } from './agent-deeds.ts';
import type { Bias } from './bias.ts';
import { biased, drawBias } from './bias.ts';
import type { ClusterGateway } from './cluster.ts';
import { Cluster } from './cluster.ts';
import { Comparison } from './comparison.ts';
import type { Deed } from './deed.ts';
import { isRefusal } from './deed.ts';
import { deeds } from './deeds.ts';
import { History } from './history.ts';
import { housekeepingDeeds } from './housekeeping-deeds.ts';
import { Judge } from './judge.ts';
import { LogWatch } from './log-watch.ts';
import { Random } from './random.ts';
import type { Release } from './releases.ts';
import { requireRows } from './required-rows.ts';
import type { VirtualTime } from './virtual-clock.ts';
import { scenes } from './scenes.ts';
import type { SceneStage } from './scene.ts';
import { settings } from './virtual-gateway.ts';
import { World } from './world.ts';

/** By how much a wall clock may be wrong. */
const mostAheadMs = 10_000;
/** How often gateways are compared with each other, and with one that joins or starts again from the store. */
const compareEvery = 200;
const joinEvery = 1000;
const restartEvery = 4000;
/** How often gateways notice that they run. */
const listenedEveryMs = 900;

/** Something that a step may be. */
interface Act {
  readonly weight: number;
  readonly act: () => void | Promise<void>;
}

/** A cluster of gateways in one thread. Every step is drawn from the seed. */
export class Simulation implements SceneStage {
  readonly random: Random;
  readonly bias: Bias;
  readonly time: VirtualTime;
  readonly history: History;
  readonly judge: Judge;
  readonly watch: LogWatch;
  readonly world: World;
  readonly cluster: Cluster;
  readonly counts: Record<string, number> = {};
  step = 0;
  readonly #comparison: Comparison;
  readonly #acts: readonly Act[];
  /** What happens at each gateway, by its place. */
  readonly #deeds: (readonly Deed[])[] = [];

  /** `passesDays`: hours pass at once, so that days end. `keepsHistory`: what callers are told is kept. */
  constructor(seed: number, { passesDays = false, keepsHistory = false } = {}) {
    this.history = new History(keepsHistory);
    this.judge = new Judge(this.history);
    this.random = new Random(seed);
    this.bias = drawBias(this.random);
    this.cluster = new Cluster(this.random, this.bias.laterForms, (batch, by) =>
      this.watch.read(batch, by, this.time.now + mostAheadMs),
    );
    this.time = this.cluster.time;
    this.watch = new LogWatch(this.judge, this.cluster.gateways);
    this.#comparison = new Comparison(this.cluster, this.judge);
    this.#acts = biased(this.random, this.#everything(passesDays), 'slightly');
    this.world = new World(2 + this.random.int(15));
  }

  /** Returns a digest of the states on the way. Throws what was promised and did not hold. */
  async run(steps: number): Promise<string> {
    await this.#begin(3 + this.random.int(3));
    while (this.step < steps) {
      this.step++;
      await this.random.weighted(this.#acts).act();
      await this.#settled();
      if (this.step % compareEvery === 0) await this.#compareAll();
      if (this.step % joinEvery === 0) await this.#compareWithStart();
    }
    await this.#compareWithStart();
    const { entries, allowed, counts } = this.judge;
    const { compared, states } = this.#comparison;
    const { crashes, log } = this.cluster;
    Object.assign(this.counts, counts, {
      entries,
      allowed,
      commits: log.version,
      unread: log.unread,
      compared,
      crashes,
    });
    return states;
  }

  async #begin(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth++) await this.#start(nth);
    const { gateways } = this.cluster;
    const [first] = gateways;
    if (first === undefined) throw new Error('there is no gateway');
    const installing = installFirstKey(first.access, undefined);
    await this.cluster.calm();
    const secret = (await installing) ?? '';
    const [root] = first.gov.keys.all();
    this.history.happened({ model: 'key', do: 'create', key: root?.id ?? '' });
    this.world.keys.push({ secret, id: root?.id ?? '', revokedSince: undefined });
    const registering = this.world.agents
      .filter(() => this.random.chance(0.8))
      .map((agent, nth) => {
        const gateway = gateways[nth % count] ?? first;
        return gateway.during(register(this, gateway, agent, this.world.root));
      });
    await this.cluster.calm();
    await Promise.all(registering);
  }

  async #start(place: number): Promise<void> {
    this.#deeds[place] = biased(this.random, deeds, 'strongly');
    await this.cluster.start(place, this.#releaseAt(place));
  }

  /** No gateway starts on what a newer release than its own has stored, so older ones are there from the beginning. */
  #releaseAt(place: number): Release {
    const { random, bias } = this;
    if (this.step === 0 && place > 0 && bias.releases.includes('older') && random.chance(0.5)) return 'older';
    return this.step > 0 && bias.releases.includes('newer') && random.chance(0.3) ? 'newer' : 'present';
  }

  /** What a step may be, and how often in a thousand. */
  #everything(passesDays: boolean): readonly Act[] {
    const { random } = this;
    const { gateways, log } = this.cluster;
    const any = () => random.pick(gateways);
    return [
      { weight: 340, act: () => this.#deed(random.int(gateways.length)) },
      { weight: 260, act: () => this.#endTurn() },
      { weight: 240, act: () => this.#workOfLog() },
      { weight: 110, act: () => this.#message() },
      { weight: 39, act: () => this.#pass(random.int(400)) },
      { weight: 3, act: () => this.#pass(random.int(20_000)) },
      { weight: passesDays ? 1 : 0, act: () => this.time.advance(random.int(14_400_000)) },
      { weight: 2.5, act: () => log.dropLock() },
      {
        weight: 3,
        act: () => {
          any().clock.aheadMs = random.int(2 * mostAheadMs) - mostAheadMs;
        },
      },
      { weight: 2, act: () => void this.#count('catch up', any().gov.journal.catchUp()) },
      { weight: 5, act: () => this.#scene() },
      { weight: 0.5, act: () => this.#restart(random.int(gateways.length)) },
      // Whoever runs a gateway that could not read something starts it again.
      { weight: 1, act: () => this.#restart(gateways.findIndex(({ ground }) => !ground.outOfReach.isNobody)) },
    ];
  }

  passes(ms: number): void {
    for (let left = ms; left > 0; left -= listenedEveryMs) {
      this.time.advance(Math.min(left, listenedEveryMs));
      for (const { listening } of this.cluster.gateways) void listening.since;
    }
  }

  /** Gateways listen while time passes, unless all of them were stopped. What they do by themselves is due then. */
  #pass(ms: number): void {
    const { gateways } = this.cluster;
    if (this.random.chance(0.1)) this.time.advance(ms);
    else this.passes(ms);
    if (ms < settings.sweepTickMs) return;
    for (const place of gateways.keys()) if (this.random.chance(0.5)) this.#deed(place, housekeepingDeeds);
  }

  #endTurn(): void {
    const waiting = this.cluster.gateways.filter(({ hasTurn }) => hasTurn);
    if (waiting.length > 0) this.random.pick(waiting).endTurn();
  }

  #deed(place: number, among = this.#deeds[place] ?? deeds): void {
    const gateway = this.cluster.gateways[place];
    if (gateway?.isUp !== true) return;
    const { name, act } = this.random.weighted(among);
    this.does(name, gateway, () => act(this, gateway));
  }

  does(name: string, gateway: ClusterGateway, work: () => Promise<unknown>): void {
    // What throws at once is refused like what is refused later.
    void this.#count(name, gateway.during((async () => await work())()));
  }

  async #count(name: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.counts[name] = (this.counts[name] ?? 0) + 1;
    } catch (error) {
      if (isRefusal(error)) this.counts[`${name}: refused`] = (this.counts[`${name}: refused`] ?? 0) + 1;
      else this.cluster.fail(error);
    }
  }

  async #workOfLog(): Promise<void> {
    const { random } = this;
    const { gateways, log } = this.cluster;
    if (log.waiting === 0) return;
    const nth = random.int(Math.min(3, log.waiting));
    const draw = random.next();
    const { refusals } = this.bias;
    const doubtful = log.work(nth, draw < 0.002 ? 'answer lost' : draw < 0.002 + refusals ? 'refused' : 'done');
    if (doubtful === undefined) return;
    // A gateway that cannot find out what became of its commit ends, and the next one reads the log.
    await this.#restart(gateways.findIndex(({ ground }) => ground === doubtful));
  }

  async #scene(): Promise<void> {
    const { name, play } = this.random.weighted(scenes);
    this.counts[`scene: ${name}`] = (this.counts[`scene: ${name}`] ?? 0) + 1;
    await play(this);
  }

  #message(): void {
    const { random } = this;
    const { gateways, log } = this.cluster;
    if (log.underWay === 0) return;
    const nth = random.int(Math.min(8, log.underWay));
    if (random.chance(0.03)) log.lose(nth);
    else {
      const member = log.deliver(nth, random.chance(0.03));
      gateways.find((gateway) => gateway.ground === member)?.gov.journal.followReady();
    }
  }

  async restarts(gateway: ClusterGateway): Promise<void> {
    await this.#restart(this.cluster.gateways.indexOf(gateway));
  }

  async #restart(place: number): Promise<void> {
    if (this.cluster.end(place)) await this.#start(place);
  }

  async #settled(): Promise<void> {
    await this.cluster.settled();
    this.watch.requireTold();
  }

  async #compareAll(): Promise<void> {
    if (this.step % (compareEvery * 5) === 0) {
      await this.cluster.calm();
      this.judge.budgets.requireTold();
    }
    this.#comparison.requireAllAlike();
  }

  /** A gateway that joins, or starts again, is like one that has been there. */
  async #compareWithStart(): Promise<void> {
    const { gateways, log } = this.cluster;
    await this.cluster.calm();
    this.#comparison.requireAllAlike();
    await requireRows(
      log.store,
      gateways.filter(({ ground }) => ground.outOfReach.isNobody),
    );
    const place = this.random.int(gateways.length);
    const joins = this.step % restartEvery !== 0;
    if (joins) await this.#start(gateways.length);
    else await this.#restart(place);
    await this.cluster.calm();
    // What its start has ended, such as approvals that nobody may decide any more, others have followed by now.
    this.#comparison.requireAllAlike();
    if (joins) this.cluster.dismiss();
  }
}
