import type { SealedEntry } from '@reeve/core';
import { installFirstKey } from '@reeve/core';
import { register } from './agent-deeds.ts';
import type { Bias } from './bias.ts';
import { biased, drawBias } from './bias.ts';
import type { Deed } from './deed.ts';
import { isRefusal } from './deed.ts';
import { deeds } from './deeds.ts';
import { Broken } from './broken.ts';
import { housekeepingDeeds } from './housekeeping-deeds.ts';
import { History } from './history.ts';
import { Judge } from './judge.ts';
import { LogWatch } from './log-watch.ts';
import { filePolicy } from './policies.ts';
import { Random, sha256 } from './random.ts';
import type { Named } from './requirements.ts';
import { requireRows } from './required-rows.ts';
import { requireAlike, settled } from './requirements.ts';
import { stateOf } from './state-of.ts';
import { VirtualClock, VirtualTime } from './virtual-clock.ts';
import { settings, VirtualGateway } from './virtual-gateway.ts';
import type { VirtualMember } from './virtual-log.ts';
import { VirtualLog } from './virtual-log.ts';
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
export class Simulation {
  readonly random: Random;
  readonly bias: Bias;
  readonly time = new VirtualTime();
  readonly history: History;
  readonly judge: Judge;
  readonly watch: LogWatch;
  readonly log = new VirtualLog((entries, by) => this.#read(entries, by));
  readonly world: World;
  readonly gateways: VirtualGateway<VirtualMember>[] = [];
  readonly counts: Record<string, number> = {};
  step = 0;
  readonly #acts: readonly Act[];
  /** What happens at each gateway, by its place. */
  readonly #deeds: (readonly Deed[])[] = [];
  #started = 0;
  #compared = 0;
  #failure: unknown;
  #states = '';

  /** `passesDays`: hours pass at once, so that days end. `keepsHistory`: what callers are told is kept. */
  constructor(seed: number, { passesDays = false, keepsHistory = false } = {}) {
    this.history = new History(keepsHistory);
    this.judge = new Judge(this.history);
    this.watch = new LogWatch(this.judge, this.gateways);
    this.random = new Random(seed);
    this.bias = drawBias(this.random);
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
    await this.#calm();
    await this.#compareAll();
    await this.#compareWithStart();
    const { entries, allowed, counts } = this.judge;
    Object.assign(this.counts, counts, { entries, allowed, commits: this.log.version, compared: this.#compared });
    return this.#states;
  }

  async #begin(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth++) await this.#start(nth);
    const [first] = this.gateways;
    if (first === undefined) throw new Error('there is no gateway');
    const installing = installFirstKey(first.access, undefined);
    await this.#calm();
    const secret = (await installing) ?? '';
    const [root] = first.gov.keys.all();
    this.history.happened({ model: 'key', do: 'create', key: root?.id ?? '' });
    this.world.keys.push({ secret, id: root?.id ?? '', revokedSince: undefined });
    const registering = this.world.agents
      .filter(() => this.random.chance(0.8))
      .map((agent, nth) => {
        const gateway = this.gateways[nth % count] ?? first;
        return gateway.during(register(this, gateway, agent, this.world.root));
      });
    await this.#calm();
    await Promise.all(registering);
  }

  async #start(place: number): Promise<void> {
    this.#deeds[place] = biased(this.random, deeds, 'strongly');
    this.gateways[place] = await VirtualGateway.start({
      name: `gateway ${++this.#started}`,
      ground: this.log.join(),
      clock: new VirtualClock(this.time, this.random.int(4000) - 2000),
      policy: filePolicy,
      onFailed: (error) => {
        this.#failure ??= error;
      },
    });
  }

  /** What a step may be, and how often in a thousand. */
  #everything(passesDays: boolean): readonly Act[] {
    const { random } = this;
    const any = () => random.pick(this.gateways);
    return [
      { weight: 340, act: () => this.#deed(random.int(this.gateways.length)) },
      { weight: 260, act: () => this.#endTurn() },
      { weight: 240, act: () => this.#workOfLog() },
      { weight: 110, act: () => this.#message() },
      { weight: 39, act: () => this.#pass(random.int(400)) },
      { weight: 3, act: () => this.#pass(random.int(20_000)) },
      { weight: passesDays ? 1 : 0, act: () => this.time.advance(random.int(14_400_000)) },
      { weight: 2.5, act: () => this.log.dropLock() },
      {
        weight: 3,
        act: () => {
          any().clock.aheadMs = random.int(2 * mostAheadMs) - mostAheadMs;
        },
      },
      { weight: 2, act: () => void this.#count('catch up', any().gov.journal.catchUp()) },
      { weight: 0.5, act: () => this.#crash(random.int(this.gateways.length)) },
    ];
  }

  /** Gateways listen while time passes, unless all of them were stopped. What they do by themselves is due then. */
  #pass(ms: number): void {
    if (this.random.chance(0.1)) this.time.advance(ms);
    else
      for (let left = ms; left > 0; left -= listenedEveryMs) {
        this.time.advance(Math.min(left, listenedEveryMs));
        for (const { listening } of this.gateways) void listening.since;
      }
    if (ms < settings.sweepTickMs) return;
    for (const place of this.gateways.keys()) if (this.random.chance(0.5)) this.#deed(place, housekeepingDeeds);
  }

  /** What the judge says is told to the simulation, and not to the gateway at hand. */
  #read(entries: readonly SealedEntry[], by: VirtualMember): void {
    try {
      this.watch.read(entries, by, this.time.now + mostAheadMs);
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #endTurn(): void {
    const waiting = this.gateways.filter(({ hasTurn }) => hasTurn);
    if (waiting.length > 0) this.random.pick(waiting).endTurn();
  }

  #deed(place: number, among = this.#deeds[place] ?? deeds): void {
    const gateway = this.gateways[place];
    if (gateway?.isUp !== true) return;
    const { name, act } = this.random.weighted(among);
    // What throws at once is refused like what is refused later.
    void this.#count(name, gateway.during((async () => await act(this, gateway))()));
  }

  async #count(name: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.counts[name] = (this.counts[name] ?? 0) + 1;
    } catch (error) {
      if (isRefusal(error)) this.counts[`${name}: refused`] = (this.counts[`${name}: refused`] ?? 0) + 1;
      else this.#failure ??= error;
    }
  }

  async #workOfLog(): Promise<void> {
    const { random, log } = this;
    if (log.waiting === 0) return;
    const nth = random.int(Math.min(3, log.waiting));
    const draw = random.next();
    const { refusals } = this.bias;
    const doubtful = log.work(nth, draw < 0.002 ? 'answer lost' : draw < 0.002 + refusals ? 'refused' : 'done');
    if (doubtful === undefined) return;
    // A gateway that cannot find out what became of its commit ends, and the next one reads the log.
    await this.#crash(this.gateways.findIndex(({ ground }) => ground === doubtful));
  }

  #message(): void {
    const { random, log } = this;
    if (log.underWay === 0) return;
    const nth = random.int(Math.min(8, log.underWay));
    if (random.chance(0.03)) log.lose(nth);
    else {
      const member = log.deliver(nth, random.chance(0.03));
      this.gateways.find((gateway) => gateway.ground === member)?.gov.journal.followReady();
    }
  }

  async #crash(place: number): Promise<void> {
    const gateway = this.gateways[place];
    if (gateway === undefined) return;
    this.counts['crashes'] = (this.counts['crashes'] ?? 0) + 1;
    this.log.leave(gateway.ground, this.random);
    await this.#start(place);
  }

  /** Lets everything happen that waits for nothing but its turn, and hears what was wrong with it. */
  async #settled(): Promise<void> {
    await settled();
    if (this.#failure !== undefined) throw this.#failure;
    this.watch.requireTold();
  }

  /** Lets everything end that is under way, and everybody follow. */
  async #calm(): Promise<void> {
    for (let round = 0; round < 200; round++) {
      for (const gateway of this.gateways) gateway.endTurn();
      while (this.log.waiting > 0) {
        const before = this.log.waiting;
        for (let nth = 0; nth < this.log.waiting; nth++) this.log.work(nth, 'done');
        await this.#settled();
        if (this.log.waiting >= before) this.log.dropLock();
      }
      while (this.log.underWay > 0) this.log.deliver(0, false);
      for (const { gov } of this.gateways) gov.journal.followReady();
      await this.#settled();
      if (this.gateways.every((gateway) => this.#isIdle(gateway) && gateway.isUp)) {
        for (const { gov } of this.gateways) void gov.journal.catchUp();
        for (let nth = 0; nth < 20 && this.log.waiting > 0; nth++) {
          this.log.work(0, 'done');
          await this.#settled();
        }
        if (this.gateways.every(({ ground }) => ground.version === this.log.version)) return;
      }
    }
    throw new Broken('the gateways do not come to rest');
  }

  #isIdle(gateway: VirtualGateway<VirtualMember>): boolean {
    return gateway.isIdle && !this.log.isAsking(gateway.ground);
  }

  /** Gateways at the same place of the log are alike. */
  async #compareAll(): Promise<void> {
    if (this.step % (compareEvery * 5) === 0) {
      await this.#calm();
      this.judge.budgets.requireTold();
    }
    const states = new Map<number, Named>();
    for (const gateway of this.gateways) {
      if (!gateway.isUp || !this.#isIdle(gateway)) continue;
      const { version } = gateway.ground;
      if (version === this.log.version) {
        this.judge.budgets.requireReserved(gateway.gov.ledger.all(), gateway.name);
        this.judge.budgets.requireSpent(gateway.gov.ledger, gateway.name);
      }
      const picture = this.#pictureOf(gateway);
      const other = states.get(version);
      if (other === undefined) states.set(version, picture);
      else {
        this.#compared++;
        requireAlike(other, picture, version);
      }
    }
    const [first] = states.values();
    if (first !== undefined) this.#states = sha256(`${this.#states}${[...first.state].join('\n')}`);
  }

  /** A gateway that starts now is like one that has been there. */
  async #compareWithStart(): Promise<void> {
    await this.#calm();
    await requireRows(this.log.store, this.gateways);
    const place = this.random.int(this.gateways.length);
    const [known] = this.gateways.slice(place).map((gateway) => this.#pictureOf(gateway));
    const joins = this.step % restartEvery !== 0;
    if (joins) await this.#start(this.gateways.length);
    else await this.#crash(place);
    await this.#calm();
    const started = this.gateways.at(joins ? -1 : place);
    if (started === undefined || known === undefined) return;
    this.#compared++;
    requireAlike(known, this.#pictureOf(started), this.log.version);
    if (!joins) return;
    this.log.leave(started.ground, this.random);
    this.gateways.pop();
  }

  #pictureOf({ name, gov }: VirtualGateway<VirtualMember>): Named {
    return { name, state: stateOf(gov, this.time.now), day: gov.ledger.windows.day.id };
  }
}
