import type { Batch } from '@reeve/core';
import { installFirstKey, messageOf } from '@reeve/core';
import { register } from './agent-deeds.ts';
import type { Bias } from './bias.ts';
import { biased, drawBias } from './bias.ts';
import { Broken } from './broken.ts';
import type { Deed, Stage } from './deed.ts';
import { isRefusal } from './deed.ts';
import { deeds } from './deeds.ts';
import { History } from './history.ts';
import { Judge } from './judge.ts';
import { filePolicy } from './policies.ts';
import { Random, sha256 } from './random.ts';
import { requireAlike, settled } from './requirements.ts';
import type { State } from './state-of.ts';
import { differenceOf, stateOf } from './state-of.ts';
import { VirtualClock, VirtualTime } from './virtual-clock.ts';
import type { OpenDisk } from './virtual-disk.ts';
import { VirtualDisk } from './virtual-disk.ts';
import { VirtualGateway } from './virtual-gateway.ts';
import { World } from './world.ts';

/** How often gateways notice that they run. */
const listenedEveryMs = 900;

/**
 * One gateway on its embedded store, with a disk that gets full and a power that fails at any step. After each failure,
 * the next gateway must hold what the one before it had acknowledged, and of the commit under way all or nothing.
 */
export class DiskSimulation implements Stage {
  readonly random: Random;
  readonly bias: Bias;
  readonly time = new VirtualTime();
  readonly history: History;
  readonly judge: Judge;
  readonly world: World;
  readonly counts: Record<string, number> = {};
  step = 0;
  readonly #disk = new VirtualDisk((batch) => this.#read(batch));
  readonly #deeds: readonly Deed[];
  #starts = 0;
  #failure: unknown;
  #states = '';

  constructor(seed: number) {
    this.history = new History(false);
    this.judge = new Judge(this.history);
    this.random = new Random(seed);
    this.bias = drawBias(this.random);
    this.#deeds = biased(this.random, deeds, 'slightly');
    this.world = new World(2 + this.random.int(6));
  }

  /** Returns a digest of the states on the way. Throws what was promised and did not hold. */
  async run(steps: number): Promise<string> {
    try {
      let gateway = await this.#begin();
      while (this.step < steps) {
        this.step++;
        gateway = await this.#act(gateway);
        await settled();
        if (this.#failure !== undefined) throw this.#failure;
        if (gateway.ground.refused !== undefined)
          throw new Broken(`a commit is refused: ${messageOf(gateway.ground.refused)}`);
      }
      Object.assign(this.counts, this.judge.counts, { entries: this.judge.entries, allowed: this.judge.allowed });
      return this.#states;
    } finally {
      this.#disk.remove();
    }
  }

  /** What the judge says is told to the simulation, and not to the gateway, which has made its commit. */
  #read(batch: Batch): void {
    try {
      this.judge.read(batch, this.time.now);
    } catch (error) {
      this.#failure ??= error;
    }
  }

  async #begin(): Promise<VirtualGateway<OpenDisk>> {
    const gateway = await this.#start();
    const installing = installFirstKey(gateway.access, undefined);
    await this.#calm(gateway);
    const [root] = gateway.gov.keys.all();
    this.history.happened({ model: 'key', do: 'create', key: root?.id ?? '' });
    this.world.keys.push({ secret: (await installing) ?? '', id: root?.id ?? '', revokedSince: undefined });
    for (const agent of this.world.agents) {
      const registering = register(this, gateway, agent, this.world.root);
      await this.#calm(gateway);
      await registering;
    }
    return gateway;
  }

  async #start(): Promise<VirtualGateway<OpenDisk>> {
    const gateway = await VirtualGateway.start({
      name: `gateway ${++this.#starts}`,
      ground: this.#disk.open(),
      clock: new VirtualClock(this.time, this.random.int(4000) - 2000),
      policy: filePolicy,
      onFailed: (error) => {
        this.#failure ??= error;
      },
    });
    return gateway;
  }

  async #act(gateway: VirtualGateway<OpenDisk>): Promise<VirtualGateway<OpenDisk>> {
    const { random } = this;
    const draw = random.next();
    if (draw < 0.45) this.#deed(gateway);
    else if (draw < 0.85) gateway.endTurn();
    else if (draw < 0.985) this.#pass(gateway, random.int(400));
    else if (draw < 0.99) this.#pass(gateway, random.int(20_000));
    else if (draw < 0.995) gateway.ground.expect('full', random.int(2 ** 32));
    else if (draw < 0.997) gateway.ground.checkpoint(false);
    else if (draw < 0.9985) gateway.clock.aheadMs = random.int(20_000) - 10_000;
    else return await this.#fail(gateway);
    return gateway;
  }

  #deed(gateway: VirtualGateway<OpenDisk>): void {
    if (!gateway.isUp) return;
    const { name, act } = this.random.weighted(this.#deeds);
    const note = (outcome: string) => {
      this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
    };
    const work = (async () => await act(this, gateway))();
    gateway.during(work).then(
      () => note(name),
      (error: unknown) => {
        if (isRefusal(error)) note(`${name}: refused`);
        else this.#failure ??= error;
      },
    );
  }

  #pass({ listening }: VirtualGateway<OpenDisk>, ms: number): void {
    for (let left = ms; left > 0; left -= listenedEveryMs) {
      this.time.advance(Math.min(left, listenedEveryMs));
      void listening.since;
    }
  }

  /** The power fails: between commits, while one is under way, or while the write-ahead log is moved. */
  async #fail(gateway: VirtualGateway<OpenDisk>): Promise<VirtualGateway<OpenDisk>> {
    const { random } = this;
    await this.#calm(gateway);
    const acknowledged = stateOf(gateway.gov, this.time.now);
    for (let nth = random.int(6); nth > 0; nth--) this.#deed(gateway);
    await settled();
    const kind = random.pick(['between commits', 'in a commit', 'in a commit', 'in a checkpoint'] as const);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    const isInCommit = kind === 'in a commit' && gateway.hasTurn;
    const underWay = isInCommit ? stateOf(gateway.gov, this.time.now) : acknowledged;
    gateway.ground.expect(isInCommit ? 'power fails' : 'done', random.int(2 ** 32));
    if (isInCommit) gateway.endTurn();
    if (kind === 'in a checkpoint') gateway.ground.checkpoint(true);
    return await this.#startAfter(gateway, acknowledged, underWay);
  }

  async #startAfter(
    gateway: VirtualGateway<OpenDisk>,
    acknowledged: State,
    underWay: State,
  ): Promise<VirtualGateway<OpenDisk>> {
    const { doubtful } = gateway.ground;
    const started = await this.#start();
    const { seq } = started.gov.journal.head;
    const isWritten = doubtful !== undefined && this.#isWritten(doubtful, started, acknowledged, underWay);
    if (isWritten) this.#read(doubtful);
    this.counts[isWritten ? 'whole' : 'gone'] = (this.counts[isWritten ? 'whole' : 'gone'] ?? 0) + 1;
    if (seq < this.judge.entries)
      throw new Broken(`entry ${this.judge.entries} was acknowledged, and ${seq} is the last`);
    await this.#calm(started);
    const state = stateOf(started.gov, this.time.now);
    const expected = isWritten ? underWay : acknowledged;
    requireAlike({ name: gateway.name, state: expected }, { name: started.name, state }, seq);
    this.judge.budgets.requireReserved(started.gov.ledger.all(), started.name);
    this.judge.requireKnown(started.gov, started.name);
    this.judge.budgets.requireTold();
    this.#states = sha256(`${this.#states}${[...state].join('\n')}`);
    return started;
  }

  /** Whether the commit under way was written. One without entries shows in the state alone. */
  #isWritten(doubtful: Batch, { gov }: VirtualGateway<OpenDisk>, acknowledged: State, underWay: State): boolean {
    const last = doubtful.entries.at(-1);
    if (last !== undefined) return gov.journal.head.seq === last.seq;
    const state = stateOf(gov, this.time.now);
    return differenceOf(underWay, state).length < differenceOf(acknowledged, state).length;
  }

  /** Ends the turns that are open, and those that callers need to come to an end. */
  async #calm(gateway: VirtualGateway<OpenDisk>): Promise<void> {
    gateway.ground.expect('done', 0);
    for (let round = 0; round < 1000; round++) {
      await settled();
      if (this.#failure !== undefined) throw this.#failure;
      if (gateway.isUp && gateway.isIdle) return;
      gateway.endTurn();
    }
    throw new Broken('the gateway does not come to rest');
  }
}
