import { biased } from '../bias.ts';
import { Broken } from '../broken.ts';
import { Random, sha256 } from '../random.ts';
import { settled } from '../requirements.ts';
import { VirtualClock, VirtualTime } from '../virtual-clock.ts';
import type { CommonFact } from './lane-facts.ts';
import type { Request } from './lane-requests.ts';
import type { Rules } from './lane-rules.ts';
import { allRules } from './lane-rules.ts';
import { LanesComparison } from './lanes-comparison.ts';
import { LanesDatabase } from './lanes-database.ts';
import { dayMs, LanesGateway } from './lanes-gateway.ts';
import { LanesJudge } from './lanes-judge.ts';
import { LanesReader } from './lanes-reader.ts';
import { LanesWorld } from './lanes-world.ts';
import { VirtualWire } from './virtual-wire.ts';

/** By how much a wall clock may be wrong. */
const mostAheadMs = 1000;
const compareEvery = 50;
const verifyEvery = 1000;

interface Act {
  readonly weight: number;
  readonly act: () => void;
}

/** Gateways on one database with lanes, as docs/scale.md designs them. Every step is drawn from the seed. */
export class LanesSimulation {
  readonly random: Random;
  readonly time = new VirtualTime();
  readonly database: LanesDatabase;
  readonly judge = new LanesJudge({ hearsCallers: true });
  step = 0;
  readonly #wire = new VirtualWire<LanesGateway>();
  readonly #world: LanesWorld;
  readonly #gateways: LanesGateway[] = [];
  readonly #abandon = new Map<LanesGateway, Set<() => void>>();
  readonly #reader: LanesReader;
  readonly #comparison: LanesComparison;
  readonly #acts: readonly Act[];
  /** How likely the database refuses a piece of work. */
  readonly #refusals: number;
  #failure: unknown;
  #ended = 0;

  constructor(seed: number, rules: Rules = allRules) {
    this.random = new Random(seed);
    this.#refusals = this.random.pick([0, 0.01, 0.05]);
    this.database = new LanesDatabase(rules, (commit) => {
      this.#try(() => this.judge.read(commit, () => this.#noteWorld()));
      this.#wire.tell(commit);
    });
    this.#world = new LanesWorld(this.random);
    this.#reader = new LanesReader(this.database, this.random);
    this.#comparison = new LanesComparison(this.database, this.judge);
    this.#acts = biased(this.random, this.#everything(), 'slightly');
  }

  get counts(): Record<string, number> {
    const { judge, database } = this;
    return {
      ...judge.counts,
      ...this.#comparison.counts,
      crashes: this.#ended,
      checkpoints: database.checkpoints.length,
    };
  }

  /** Returns a digest of all logs. Throws what was promised and did not hold. */
  async run(steps: number): Promise<string> {
    for (let place = 0; place < 2 + this.random.int(3); place++) this.#start(place);
    this.database.commitCommon(0, { kind: 'cap_set', cap: this.#world.someCap() });
    this.database.commitCommon(1, { kind: 'lane_opened', lane: this.#world.newLane() });
    while (this.step < steps) {
      this.step++;
      this.random.weighted(this.#acts).act();
      await this.#settled();
      this.#comparison.requireSums();
      if (this.step % compareEvery === 0) this.#comparison.requireAlike(this.#gateways);
      if (this.step % verifyEvery === 0) await this.#verify();
    }
    await this.#verify();
    const { common, lanes } = this.database;
    return sha256([common.at(-1)?.hash, ...[...lanes.values()].map(({ commits }) => commits.at(-1)?.hash)].join(' '));
  }

  #start(place: number): void {
    const clock = new VirtualClock(this.time, this.random.int(2 * mostAheadMs) - mostAheadMs);
    const gateway = new LanesGateway(this.#wire, this.database, clock);
    this.#wire.join(gateway);
    this.#gateways[place] = gateway;
  }

  /** What a step may be, and how often in a thousand. */
  #everything(): readonly Act[] {
    const { random } = this;
    const any = () => random.pick(this.#gateways);
    const anyLane = () => this.#world.someLane();
    return [
      { weight: 260, act: () => this.#ask(any(), this.#world.someRequest(this.time.now, dayMs)) },
      { weight: 12, act: () => this.#say(any(), this.#world.someWord()) },
      { weight: 420, act: () => this.#workOfDatabase() },
      { weight: 200, act: () => this.#message() },
      { weight: 60, act: () => this.#pass(random.int(300)) },
      { weight: 1, act: () => this.#pass(random.int(15_000)) },
      { weight: 12, act: () => void any().save(anyLane()) },
      { weight: 8, act: () => any().forget(anyLane()) },
      { weight: 12, act: () => void any().checkpoint() },
      { weight: 12, act: () => this.#try(() => this.#reader.read()) },
      { weight: 3, act: () => this.#restart(any()) },
    ];
  }

  #pass(ms: number): void {
    this.time.advance(ms);
    this.#noteWorld();
  }

  /** Days on which some gateway may decide, or has begun to. */
  #noteWorld(): void {
    const today = Math.floor(this.time.now / dayMs);
    this.judge.noteWorld([today - 1, today, today + 1].filter((day) => this.#isAround(day)));
  }

  #isAround(day: number): boolean {
    const { now } = this.time;
    return day * dayMs <= now + mostAheadMs && (day + 1) * dayMs > now - mostAheadMs;
  }

  #ask(gateway: LanesGateway, request: Request): void {
    const open = this.judge.asked(request);
    this.#noteWorld();
    const abandon = () => {
      this.judge.abandoned(open);
      // Whoever gets no answer asks elsewhere.
      if (this.random.chance(0.7)) this.#ask(this.random.pick(this.#gateways), request);
    };
    const waiting = this.#abandon.get(gateway) ?? new Set();
    this.#abandon.set(gateway, waiting.add(abandon));
    void gateway.ask(request).then((answer) => {
      if (!waiting.delete(abandon)) return;
      this.#world.heard(request, answer);
      this.#try(() => this.judge.answered(open, answer));
    });
  }

  #say(gateway: LanesGateway, fact: CommonFact): void {
    void gateway.say(fact).then((answer) => {
      if (answer === 'done') this.#try(() => this.judge.said(fact));
    });
  }

  #workOfDatabase(): void {
    const { random } = this;
    if (this.#wire.waiting === 0) return;
    const draw = random.next();
    const fate = draw < 0.004 ? 'answer lost' : draw < 0.004 + this.#refusals ? 'refused' : 'done';
    const doubtful = this.#wire.work(random.int(Math.min(4, this.#wire.waiting)), fate);
    if (doubtful !== undefined) this.#restart(doubtful);
  }

  #message(): void {
    const { random } = this;
    if (this.#wire.underWay === 0) return;
    const nth = random.int(Math.min(8, this.#wire.underWay));
    if (random.chance(0.05)) this.#wire.lose(nth);
    else this.#wire.deliver(nth, random.chance(0.05));
  }

  /** A gateway ends in the middle of all that it does, and another one starts in its place. */
  #restart(gateway: LanesGateway): void {
    this.#ended++;
    this.#wire.leave(gateway, this.random);
    const waiting = this.#abandon.get(gateway) ?? new Set();
    this.#abandon.delete(gateway);
    this.#start(this.#gateways.indexOf(gateway));
    for (const abandon of [...waiting]) {
      waiting.delete(abandon);
      abandon();
    }
  }

  async #verify(): Promise<void> {
    for (let nth = 0; this.#gateways.some(({ isIdle }) => !isIdle); nth++) {
      if (nth > 5000) throw new Broken('the gateways do not come to rest');
      if (this.#wire.waiting > 0) this.#wire.work(0, 'done');
      await this.#settled();
    }
    this.#reader.requireTold();
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  async #settled(): Promise<void> {
    await settled();
    if (this.#failure !== undefined) throw this.#failure;
  }
}
