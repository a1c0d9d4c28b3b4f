import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { system } from '../audit/entry.ts';
import { ManualClock } from '../testkit/manual-clock.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { tierKey } from '../budget/tier.ts';
import { factsNeededFrom } from '../recover.ts';
import { moveOp } from './move-op.ts';
import { OpsCheckpoint, sweepOps } from './checkpoint.ts';
import type { OpTrigger } from './lifecycle.ts';
import { isOver } from './lifecycle.ts';
import type { OpRecord } from './op.ts';
import { recordOf } from './op.ts';
import { registerOp } from '../testkit/commands.ts';

const agentNames = ['acme/search/bot', 'umbrella/search/bot', '//bot'] as const;
const policy = `
rules:
  - { name: fine, effect: allow, tools: [search, fetch] }
  - { name: never, effect: deny, tools: [delete] }
`;

type Command =
  | {
      readonly do: 'check';
      readonly agent: number;
      readonly traceId: string;
      readonly tool: string;
      readonly cost: number;
    }
  | { readonly do: 'register'; readonly agent: number; readonly traceId: string; readonly summary: string }
  | { readonly do: 'complete'; readonly agent: number; readonly traceId: string; readonly cost: number | null }
  | { readonly do: 'control'; readonly agent: number; readonly traceId: string; readonly trigger: OpTrigger }
  | { readonly do: 'deregister'; readonly agent: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'keep house'; readonly rowsPerTurn: number }
  | { readonly do: 'sweep' }
  | { readonly do: 'fail next turn' }
  | { readonly do: 'crash' };

const agent = fc.nat({ max: agentNames.length - 1 });
const traceId = fc.constantFrom('t1', 't2', 't3');
const someCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('check' as const),
      agent,
      traceId,
      tool: fc.constantFrom('search', 'search', 'fetch', 'delete'),
      cost: fc.constantFrom(0, 0, 0, 5, 1000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      agent,
      traceId,
      summary: fc.constantFrom('', 'to be checked'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      agent,
      traceId,
      cost: fc.constantFrom(0, 0, null, 7),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('control' as const),
      agent,
      traceId,
      trigger: fc.constantFrom<OpTrigger>('pause', 'pause', 'resume', 'terminate'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deregister' as const), agent }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 900, 9000, 31_000, 250_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('keep house' as const), rowsPerTurn: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'sweep' }) },
  { weight: 2, arbitrary: fc.constant<Command>({ do: 'fail next turn' }) },
  { weight: 2, arbitrary: fc.constant<Command>({ do: 'crash' }) },
);

interface Schedule {
  readonly tickMs: number;
  readonly ttlMs: number;
  /** How long operations get no row. */
  readonly settleMs: number;
  /** Whether housekeeping runs on every tick. Otherwise it runs only on a command, however late. */
  readonly punctual: boolean;
}

function checkpointOf({ gov }: TestGovernance, { tickMs, ttlMs, settleMs }: Schedule): OpsCheckpoint {
  return new OpsCheckpoint(gov, tickMs, ttlMs, settleMs);
}

/** A gateway with its housekeeping, driven by commands, that crashes at times. */
class Simulation {
  readonly #schedule: Schedule;
  #test: TestGovernance;
  #checkpoint: OpsCheckpoint;
  #agents: TestAgent[] = [];
  #sinceTick = 0;
  #failNext = false;

  private constructor(test: TestGovernance, schedule: Schedule) {
    this.#schedule = schedule;
    this.#test = test;
    this.#checkpoint = checkpointOf(test, schedule);
  }

  static async start(schedule: Schedule): Promise<Simulation> {
    const simulation = new Simulation(await testGovernance({ ttlMs: schedule.ttlMs }), schedule);
    await simulation.#test.policies(policy);
    for (const name of agentNames) simulation.#agents.push(await simulation.#test.register(agentId(name)));
    return simulation;
  }

  async run(command: Command): Promise<void> {
    const failing = this.#failNext && command.do !== 'wait' && command.do !== 'crash';
    if (failing) this.#test.failure = new Error('the disk is full');
    await this.#act(command);
    this.#test.turn();
    if (!failing) return;
    this.#test.failure = undefined;
    this.#failNext = false;
  }

  async #act(command: Command): Promise<void> {
    switch (command.do) {
      case 'check':
        await this.#check(command);
        break;
      case 'register':
        await this.#register(command);
        break;
      case 'complete':
        await settled(
          this.#test.complete(this.#agent(command.agent), `${command.traceId}:s`, { actualCostMicros: command.cost }),
        );
        break;
      case 'control':
        this.#control(command);
        break;
      case 'deregister':
        await this.#deregister(command.agent);
        break;
      case 'wait':
        this.#wait(command.ms);
        break;
      case 'keep house':
        this.#keepHouse(command.rowsPerTurn);
        break;
      case 'sweep':
        sweepOps(this.#test.gov);
        break;
      case 'fail next turn':
        this.#failNext = true;
        break;
      case 'crash':
        await this.#crash();
        break;
    }
  }

  async #check({ agent, traceId, tool, cost }: Extract<Command, { do: 'check' }>): Promise<void> {
    const check = this.#test.check(this.#agent(agent), {
      traceId,
      spanId: 's',
      action: useTool(tool),
      estimatedCostMicros: cost,
      runId: cost % 2 === 0 ? `run-${cost}` : '',
      via: cost % 2 === 0 ? null : { door: 'hook', name: `host ${cost}` },
      summary: cost % 3 === 0 ? `costs ${cost}` : '',
    });
    await settled(check);
  }

  async #register({ agent, traceId, summary }: Extract<Command, { do: 'register' }>): Promise<void> {
    const { gov, settle } = this.#test;
    const request = { agent: this.#agent(agent).id, traceId, spanId: 's', summary };
    await settled(settle(registerOp(gov, operator, request)));
  }

  #control({ agent, traceId, trigger }: Extract<Command, { do: 'control' }>): void {
    const { gov, known } = this.#test;
    const op = gov.ops.find(known(this.#agent(agent).id), `${traceId}:s`);
    if (op === undefined) return;
    try {
      moveOp(gov, op, trigger, { actor: system, reason: trigger === 'terminate' ? '' : 'as told' });
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_transition' });
    }
  }

  /** An agent that leaves returns at once, so that its ids can be used again. */
  async #deregister(index: number): Promise<void> {
    const { id } = this.#agent(index);
    const left = await settled(this.#test.deregister(this.#agent(index)));
    if (!left) return;
    this.#agents[index] = await this.#test.register(id);
  }

  #wait(ms: number): void {
    let left = ms;
    while (left > 0) {
      const step = this.#schedule.punctual ? Math.min(left, this.#schedule.tickMs - this.#sinceTick) : left;
      this.#test.clock.advance(step);
      left -= step;
      this.#sinceTick += step;
      if (!this.#schedule.punctual || this.#sinceTick < this.#schedule.tickMs) continue;
      this.#sinceTick = 0;
      this.#keepHouse(200);
      this.#test.turn();
    }
  }

  #keepHouse(rowsPerTurn: number): void {
    sweepOps(this.#test.gov);
    for (let left = 1000; left > 0 && this.#checkpoint.step(rowsPerTurn); left--) this.#test.turn();
    this.#test.turn();
    const { gov, store } = this.#test;
    for (let left = 50; left > 0 && gov.balances.save(rowsPerTurn); left--) this.#test.turn();
    this.#test.turn();
    void store.forgetFacts(factsNeededFrom(gov, this.#checkpoint.replayFrom), 1000);
  }

  async #crash(): Promise<void> {
    this.#test.turn();
    this.#test.gov.ops.sweep();
    const before = picture(this.#test);
    const money = books(this.#test);
    this.#test = await this.#test.crash();
    expect(books(this.#test)).toEqual(money);
    sweepOps(this.#test.gov);
    this.#test.turn();
    this.#checkpoint = checkpointOf(this.#test, this.#schedule);
    this.#sinceTick = 0;
    expect(picture(this.#test)).toEqual(before);
  }

  #agent(index: number): TestAgent {
    const found = this.#agents[index];
    if (found === undefined) throw new RangeError('no such agent');
    return found;
  }
}

type Picture = Record<string, OpRecord & { readonly seq: number | null; readonly age: number }>;

/** What is held back and spent, where that is anything. */
function books({ gov }: TestGovernance): unknown {
  const all = [...gov.ledger.balances.all()].map(({ of, reserved, sums: { spent } }) => [
    tierKey(of),
    `${reserved} ${spent.day} ${spent.month}`,
  ]);
  return Object.fromEntries(all.filter(([, amounts]) => amounts !== '0 0 0'));
}

/** Every operation, with everything known about it. */
function picture({ gov, clock }: TestGovernance): Picture {
  const seen: Picture = {};
  for (const owner of gov.directory.all()) {
    for (const op of gov.ops.of(owner)) {
      // A start knows of what has ended only by which commit it did. The leaving of its agent may end that.
      const seq = isOver(op.state) ? null : op.seq;
      seen[`${owner.key} ${op.opId}`] = { ...recordOf(op), seq, age: clock.elapsed() - op.movedAt };
    }
  }
  return seen;
}

/** Whether the work succeeded. A refusal is an answer like any other here. */
async function settled(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    expect(error).toHaveProperty(
      'code',
      expect.stringMatching(/^(op_not_found|invalid_transition|store_unavailable)$/),
    );
    return false;
  }
}

async function survivesCrashes(schedule: Schedule, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(someCommand, { maxLength: 60, size: 'max' }), async (commands) => {
      const simulation = await Simulation.start(schedule);
      for (const command of commands) await simulation.run(command);
      await simulation.run({ do: 'crash' });
    }),
    { numRuns },
  );
}

const usual: Schedule = { tickMs: 10_000, ttlMs: 60_000, settleMs: 60_000, punctual: true };

test.each([
  ['after any history and any crash, every operation is as it was', usual],
  ['so it is where housekeeping is late', { ...usual, punctual: false }],
  ['so it is where operations get a row at the first tick', { ...usual, settleMs: 10_000 }],
  ['so it is where that is late', { ...usual, settleMs: 10_000, punctual: false }],
  [
    'so it is where operations are swept sooner than housekeeping comes round',
    { ...usual, ttlMs: 4000, settleMs: 10_000 },
  ],
])('%s', async (_, schedule) => {
  await survivesCrashes(schedule, 120);
});

/** Runs ticks as the gateway's housekeeping does, with `between` before each tick. */
async function keepHouse(
  test: TestGovernance,
  checkpoint: OpsCheckpoint,
  ticks: number,
  between: () => unknown = () => undefined,
): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) {
    test.clock.advance(9_000);
    await between();
    test.turn();
    test.clock.advance(1_000);
    sweepOps(test.gov);
    while (checkpoint.step(200)) test.turn();
    test.turn();
  }
}

async function governed(): Promise<{ test: TestGovernance; checkpoint: OpsCheckpoint; bot: TestAgent }> {
  const test = await testGovernance();
  await test.policies(policy);
  const bot = await test.register(agentId('acme/search/bot'));
  return { test, checkpoint: new OpsCheckpoint(test.gov, 10_000, 60_000), bot };
}

test('an operation that is paused and resumed all the time outlives a crash', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 't', spanId: 's' });
  const op = test.gov.ops.get(test.known(bot.id), 't:s');
  await keepHouse(test, checkpoint, 40, () =>
    moveOp(test.gov, op, op.state === 'running' ? 'pause' : 'resume', { actor: system, reason: '' }),
  );
  const before = picture(test);
  expect(Object.keys(before)).toHaveLength(1);
  expect(picture(await test.crash())).toEqual(before);
});

test('an operation of an agent that came back outlives the sweep of its namesake from before', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 't', spanId: 's' });
  await keepHouse(test, checkpoint, 3);
  await test.deregister(bot);
  const again = await test.register(bot.id);
  test.clock.advance(60_000);
  test.gov.ops.sweep();
  expect(await test.check(again, { traceId: 't', spanId: 's' })).toMatchObject({ decision: 'allow' });
  await keepHouse(test, checkpoint, 40);
  const before = picture(test);
  expect(Object.keys(before)).toHaveLength(1);
  expect(picture(await test.crash())).toEqual(before);
});

test('the rows of operations whose agent has left go with the sweep, however many others ended lately', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 't', spanId: 'kept' });
  await keepHouse(test, checkpoint, 3);
  for (const spanId of ['a', 'b', 'c']) {
    await test.check(bot, { traceId: 't', spanId });
    await test.complete(bot, `t:${spanId}`);
  }
  const from = test.commits.length;
  await test.deregister(bot);
  await keepHouse(test, checkpoint, 40);
  const removed = test.commits
    .slice(from)
    .flatMap(({ changes }) => changes.filter(({ kind }) => kind === 'op_removed'));
  expect(removed).toMatchObject([{ opId: 't:kept' }]);
  expect(picture(await test.crash())).toEqual({});
});

test('an operation of an agent that came back is not brought to life again after it has ended and two crashes', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.deregister(bot);
  const again = await test.register(bot.id);
  await test.check(again, { traceId: 't', spanId: 's' });
  await keepHouse(test, checkpoint, 1);
  const restarted = await test.crash();
  await restarted.complete(again, 't:s');
  await keepHouse(restarted, new OpsCheckpoint(restarted.gov, 10_000, 60_000), 40);
  expect(picture(restarted)).toEqual({});
  expect(picture(await restarted.crash())).toEqual({});
});

test('an operation that ended long after it began is still over after a crash, though housekeeping came late', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 't', spanId: 's' });
  checkpoint.step(200);
  test.clock.advance(500_000);
  await test.complete(bot, 't:s');
  await keepHouse(test, checkpoint, 1);
  const before = picture(test);
  expect(Object.keys(before)).toHaveLength(1);
  expect(picture(await test.crash())).toEqual(before);
});

test('a row that is as new as the entry of another operation does not hide that entry', async () => {
  const { test, checkpoint, bot } = await governed();
  for (const traceId of ['t1', 't2']) await test.check(bot, { traceId, spanId: 's' });
  await keepHouse(test, checkpoint, 2);
  await test.complete(bot, 't2:s');
  // A gateway that follows another one gives an operation the number of the commit's last entry.
  const { ops, head } = await test.store.load();
  const saved = [...ops].filter(({ opId }) => opId === 't1:s');
  const changes = saved.map((op) => ({ kind: 'op_saved' as const, op: { ...op, seq: head.seq } }));
  await test.store.commit({ entries: [], changes });
  const restarted = Object.values(picture(await test.crash()));
  expect(restarted.map(({ opId, state }) => `${opId} ${state}`).toSorted()).toEqual([
    't1:s running',
    't2:s completing',
  ]);
});

test('a sweep that could not be made durable brings nothing back to life', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 't', spanId: 's' });
  await keepHouse(test, checkpoint, 3);
  await test.complete(bot, 't:s');
  test.clock.advance(60_000);
  test.failure = new Error('the disk is full');
  sweepOps(test.gov);
  test.turn();
  test.failure = undefined;
  await keepHouse(test, checkpoint, 40);
  expect(picture(test)).toEqual({});
  expect(picture(await test.crash())).toEqual({});
});

test('an operation whose id was used before keeps its row over a crash, and the row goes with it', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 't', spanId: 's' });
  await keepHouse(test, checkpoint, 3);
  await test.complete(bot, 't:s');
  await keepHouse(test, checkpoint, 7);
  expect(picture(test)).toEqual({});
  await test.check(bot, { traceId: 't', spanId: 's' });
  await keepHouse(test, checkpoint, 3);
  const before = picture(test);
  const restarted = await test.crash();
  expect(picture(restarted)).toEqual(before);
  await restarted.complete(bot, 't:s');
  await keepHouse(restarted, new OpsCheckpoint(restarted.gov, 10_000, 60_000), 40);
  expect(picture(restarted)).toEqual({});
  expect(picture(await restarted.crash())).toEqual({});
});

test.each(['complete', 'terminate'] as const)('%s after quiet minutes is not lost in a crash', async (trigger) => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 't', spanId: 's', estimatedCostMicros: 500 });
  const forget = () => {
    while (test.gov.balances.save(100)) test.turn();
    void test.store.forgetFacts(factsNeededFrom(test.gov, checkpoint.replayFrom), 1000);
  };
  await keepHouse(test, checkpoint, 40, forget);
  if (trigger === 'complete') await test.complete(bot, 't:s', { actualCostMicros: 700 });
  else moveOp(test.gov, test.gov.ops.get(test.known(bot.id), 't:s'), 'terminate', { actor: system, reason: '' });
  test.turn();
  const [ops, money] = [picture(test), books(test)];
  const restarted = await test.crash();
  expect(picture(restarted)).toEqual(ops);
  expect(books(restarted)).toEqual(money);
});

test('the log is replayed from the mark on, and the mark keeps up', async () => {
  const { test, checkpoint, bot } = await governed();
  await test.check(bot, { traceId: 'long', spanId: 's' });
  let asked = 0;
  await keepHouse(test, checkpoint, 60, () =>
    test.check(bot, { traceId: `t${asked++}`, spanId: 's', action: useTool('delete') }),
  );
  const { opsReplayFrom, head, ops } = await test.store.load();
  expect([...ops].map((op) => op.opId)).toEqual(['long:s']);
  expect(opsReplayFrom).toBeGreaterThan(head.seq - 20);
});

/** No two readings show the same time. */
class TickingClock extends ManualClock {
  override now(): number {
    this.setWallClock(1);
    return super.now();
  }
}

test('the times that were told are those that a restart brings back', async () => {
  const test = await testGovernance({ clock: new TickingClock() });
  await test.policies(policy);
  const bot = await test.register(agentId('acme/search/bot'));
  await test.check(bot, { traceId: 'allowed', spanId: 's' });
  await test.check(bot, { traceId: 'denied', spanId: 's', action: useTool('delete') });
  const request = { agent: bot.id, traceId: 'registered', spanId: 's', summary: '' };
  await test.settle(registerOp(test.gov, operator, request));
  await test.check(bot, { traceId: 'done', spanId: 's' });
  await test.complete(bot, 'done:s');
  const times = ({ opsOf }: TestGovernance) =>
    [...opsOf(bot.id).values()].map((op) => `${op.opId} ${op.registeredAt} ${op.updatedAt}`).toSorted();
  const before = times(test);
  expect(before).toHaveLength(4);
  const after = times(await test.crash());
  expect(after).toEqual(before);
});
