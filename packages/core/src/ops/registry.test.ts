import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Agent } from '../tenancy/agent.ts';
import { looseAgent } from '../testkit/loose-agent.ts';
import { bareRecord } from './op.ts';
import { ManualClock } from '../testkit/manual-clock.ts';
import type { OpState, OpTrigger } from './lifecycle.ts';
import type { MutableOp } from './mutable-op.ts';
import type { Op } from './op.ts';
import { opStates } from './lifecycle.ts';
import type { Undo } from '../journal/meaning.ts';
import { MovableOps } from '../testkit/registered-ops.ts';

const ttlMs = 60_000;
const agentNames = ['acme/search/bot', 'umbrella/search/bot', '//bot'] as const;
const opIds = ['t1:s1', 't1:s2', 't2:s1'] as const;

type Command =
  | { readonly do: 'ingest'; readonly agent: number; readonly opId: string }
  | { readonly do: 'move'; readonly agent: number; readonly opId: string; readonly trigger: OpTrigger }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'set wall clock'; readonly ms: number }
  | { readonly do: 'end turn' }
  | { readonly do: 'fail turn' }
  | { readonly do: 'sweep' };

const agent = fc.nat({ max: agentNames.length - 1 });
const opId = fc.constantFrom(...opIds);
const someCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ingest' as const), agent, opId }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      agent,
      opId,
      // Moves that lead somewhere are more frequent, so that runs get far.
      trigger: fc.constantFrom<OpTrigger>('allow', 'allow', 'pause', 'resume', 'complete', 'terminate', 'terminate'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 30_000, 59_999) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('set wall clock' as const), ms: fc.constantFrom(-86_400_000, 86_400_000) }),
  },
  { weight: 2, arbitrary: fc.constant<Command>({ do: 'end turn' }) },
  { weight: 2, arbitrary: fc.constant<Command>({ do: 'fail turn' }) },
  { weight: 3, arbitrary: fc.constant<Command>({ do: 'sweep' }) },
);

/** What the specification says about an operation, without how the registry finds it. */
interface Expected {
  state: OpState;
  registeredAt: number;
  updatedAt: number;
  movedAt: number;
}

/** Written from the specification's table again, on purpose not from the code under test. */
function expectedAfter(state: OpState, trigger: OpTrigger): OpState | 'InvalidTransition' {
  if (trigger === 'terminate' && state !== 'completing') return 'terminated';
  if (state === 'pending' && trigger === 'allow') return 'running';
  if (state === 'running' && trigger === 'pause') return 'paused';
  if (state === 'paused' && trigger === 'resume') return 'running';
  if (state === 'running' && trigger === 'complete') return 'completing';
  return 'InvalidTransition';
}

class Interpreter {
  readonly clock = new ManualClock();
  readonly registry = new MovableOps(this.clock, ttlMs);
  readonly agents: readonly Agent[] = agentNames.map(looseAgent);
  #model = new Map<string, Expected>();
  #modelAtTurnStart = new Map<string, Expected>();
  #undos: Undo[] = [];

  run(command: Command): void {
    switch (command.do) {
      case 'ingest':
        this.#ingest(this.#agent(command.agent), command.opId);
        break;
      case 'move':
        this.#move(this.#agent(command.agent), command.opId, command.trigger);
        break;
      case 'wait':
        this.clock.advance(command.ms);
        break;
      case 'set wall clock':
        this.clock.setWallClock(command.ms);
        break;
      case 'end turn':
        this.#endTurn();
        break;
      case 'fail turn':
        for (const undo of this.#undos.reverse()) undo();
        this.#model = new Map([...this.#modelAtTurnStart].map(([key, op]) => [key, { ...op }]));
        this.#undos = [];
        break;
      case 'sweep':
        this.#endTurn();
        this.#sweep();
        break;
    }
    this.#compare();
  }

  #agent(index: number): Agent {
    const found = this.agents[index];
    if (found === undefined) throw new RangeError('no such agent');
    return found;
  }

  #ingest(owner: Agent, id: string): void {
    const key = keyOf(owner, id);
    const known = this.#model.get(key);
    const { op, created } = this.registry.ingest(owner, id);
    expect(created).toBe(known === undefined);
    if (!created) return;
    this.#undos.push(() => this.registry.forget(op));
    const now = this.clock.now();
    this.#model.set(key, { state: 'pending', registeredAt: now, updatedAt: now, movedAt: this.clock.elapsed() });
  }

  #move(owner: Agent, id: string, trigger: OpTrigger): void {
    const expected = this.#model.get(keyOf(owner, id));
    if (expected === undefined) {
      expect(() => this.registry.get(owner, id)).toThrow(expect.objectContaining({ code: 'op_not_found' }));
      return;
    }
    const op = this.registry.get(owner, id);
    const to = expectedAfter(expected.state, trigger);
    if (to === 'InvalidTransition') {
      expect(() => this.registry.move(op, trigger)).toThrow(expect.objectContaining({ code: 'invalid_transition' }));
      return;
    }
    const undo = this.registry.move(op, trigger);
    if (to === expected.state) {
      expect(undo).toBeUndefined();
      return;
    }
    if (undo === undefined) throw new Error('a move that changes something can be taken back');
    this.#undos.push(undo);
    Object.assign(expected, { state: to, updatedAt: this.clock.now(), movedAt: this.clock.elapsed() });
  }

  #sweep(): void {
    const due = [...this.#model].filter(
      ([, { state, movedAt }]) =>
        (state === 'completing' || state === 'terminated') && this.clock.elapsed() - movedAt >= ttlMs,
    );
    const removed = this.registry.sweep().map((op) => keyOf(op.owner, op.opId));
    expect(removed.toSorted()).toEqual(due.map(([key]) => key).toSorted());
    for (const [key] of due) this.#model.delete(key);
    this.#endTurn();
  }

  #endTurn(): void {
    for (const owner of this.agents) this.registry.durable(...this.registry.of(owner));
    this.#undos = [];
    this.#modelAtTurnStart = new Map([...this.#model].map(([key, op]) => [key, { ...op }]));
  }

  #compare(): void {
    const found = new Map<string, Expected>();
    for (const owner of this.agents) {
      for (const op of this.registry.of(owner)) {
        expect(op.owner).toBe(owner);
        expect(this.registry.find(owner, op.opId)).toBe(op);
        found.set(keyOf(owner, op.opId), factsOf(op));
      }
    }
    expect(found).toEqual(this.#model);
    const withIds = opIds.flatMap((id) => this.registry.withId(id).map((op) => keyOf(op.owner, op.opId)));
    expect(withIds.toSorted()).toEqual([...this.#model.keys()].toSorted());
    for (const state of opStates) {
      expect(this.registry.count(state)).toBe([...this.#model.values()].filter((op) => op.state === state).length);
    }
  }
}

function keyOf(owner: Agent, id: string): string {
  return `${owner.key} ${id}`;
}

function factsOf({ state, registeredAt, updatedAt, movedAt }: Op): Expected {
  return { state, registeredAt, updatedAt, movedAt };
}

test('whatever happens, in whatever order, the registry holds what the specification says', () => {
  fc.assert(
    fc.property(fc.array(someCommand, { maxLength: 80, size: 'max' }), (commands) => {
      const interpreter = new Interpreter();
      for (const command of commands) interpreter.run(command);
    }),
    { numRuns: 200 },
  );
});

test('an operation that is over lives for exactly the time to live', () => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const { op } = registry.ingest(looseAgent('acme/search/bot'), 't:s');
  clock.advance(1_000_000);
  registry.move(op, 'terminate');
  registry.durable(op);
  clock.advance(ttlMs - 1);
  expect(registry.sweep()).toEqual([]);
  clock.advance(1);
  expect(registry.sweep()).toEqual([op]);
  expect(registry.sweep()).toEqual([]);
  expect(opStates.map((state) => registry.count(state))).toEqual([0, 0, 0, 0, 0]);
});

test.each([-86_400_000, 86_400_000])('setting the wall clock by %d ms neither expires nor keeps anything', (ms) => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const { op } = registry.ingest(looseAgent('acme/search/bot'), 't:s');
  registry.move(op, 'terminate');
  registry.durable(op);
  clock.setWallClock(ms);
  clock.advance(ttlMs - 1);
  expect(registry.sweep()).toEqual([]);
  clock.advance(1);
  expect(registry.sweep()).toEqual([op]);
});

test('a move that was taken back does not hold up the sweep of what ended after it', () => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const owner = looseAgent('acme/search/bot');
  const first = registry.ingest(owner, 't:1').op;
  const second = registry.ingest(owner, 't:2').op;
  registry.move(first, 'terminate')?.();
  registry.move(second, 'terminate');
  registry.durable(second);
  clock.advance(ttlMs - 1);
  registry.move(first, 'allow');
  clock.advance(1);
  expect(registry.sweep()).toEqual([second]);
});

test('an operation whose end was taken back and came again is swept once', () => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const { op } = registry.ingest(looseAgent('acme/search/bot'), 't:s');
  registry.move(op, 'terminate')?.();
  registry.move(op, 'terminate');
  registry.durable(op);
  clock.advance(ttlMs);
  expect(registry.sweep()).toEqual([op]);
});

test('an end that is not durable yet is not swept: it may be taken back', () => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const owner = looseAgent('acme/search/bot');
  const { op } = registry.ingest(owner, 't:s');
  registry.durable(op);
  const takeBack = registry.move(op, 'terminate');
  clock.advance(ttlMs);
  expect(registry.sweep()).toEqual([]);
  takeBack?.();
  expect(registry.find(owner, 't:s')?.state).toBe('pending');
});

test('an operation whose end was taken back, among later ones that stand, is not swept', () => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const owner = looseAgent('acme/search/bot');
  const [first, second] = ['t:1', 't:2'].map((id) => registry.ingest(owner, id).op) as [MutableOp, MutableOp];
  const takeBack = registry.move(first, 'terminate');
  registry.move(second, 'terminate');
  registry.durable(second);
  takeBack?.();
  clock.advance(ttlMs);
  expect(registry.sweep()).toEqual([second]);
  expect(registry.find(owner, 't:1')).toBe(first);
});

test('an operation whose end is taken back after it needed no row comes first among those without one', () => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const owner = looseAgent('acme/search/bot');
  const first = registry.ingest(owner, 't:1').op;
  const takeBack = registry.move(first, 'terminate');
  registry.needsNoRow(first);
  clock.advance(1000);
  const second = registry.ingest(owner, 't:2').op;
  takeBack?.();
  expect([...registry.unsaved()].map(([op]) => op)).toEqual([first, second]);
});

test('the row that another gateway writes of an operation that is forgotten here is removed by whoever sweeps next', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const owner = looseAgent('acme/search/bot');
  registry.noteSaved(owner, 't:1', 7, false);
  expect([...registry.takeForgottenRows()]).toEqual([{ id: owner.record.id, opId: 't:1', savedSeq: 7 }]);
  expect([...registry.takeForgottenRows()]).toEqual([]);
});

test('the row of a forgotten operation goes with another one that has its id', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const owner = looseAgent('acme/search/bot');
  registry.noteSaved(owner, 't:1', 7, false);
  const { op } = registry.ingest(owner, 't:1');
  expect([...registry.takeForgottenRows()]).toEqual([]);
  expect(op.savedSeq).toBe(7);
});

test('the row of a forgotten operation is owed again once another one that has its id is taken back', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const owner = looseAgent('acme/search/bot');
  registry.noteSaved(owner, 't:1', 7, false);
  const record = bareRecord(owner.record.id, 't:1', 0);
  const takeBack = registry.put(owner, undefined, record, { movedAt: 0, seq: undefined, isDurable: false });
  expect([...registry.takeForgottenRows()]).toEqual([]);
  takeBack();
  expect([...registry.takeForgottenRows()]).toEqual([{ id: owner.record.id, opId: 't:1', savedSeq: 7 }]);
});

test('many thousand operations that came and went leave nothing behind', () => {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const owner = looseAgent('acme/search/bot');
  let swept = 0;
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 200; i++) {
      const { op } = registry.ingest(owner, `t${round}:s${i}`);
      registry.move(op, 'terminate');
      registry.durable(op);
    }
    clock.advance(ttlMs / 2);
    swept += registry.sweep().length;
  }
  clock.advance(ttlMs);
  swept += registry.sweep().length;
  expect(swept).toBe(10_000);
  expect(registry.of(owner).size).toBe(0);
  expect([...registry.unsaved()]).toEqual([]);
  expect(registry.count('terminated')).toBe(0);
});

test('the same op id of another agent is another operation, which neither sees nor touches the first', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const [mine, theirs] = [looseAgent('acme/search/bot'), looseAgent('umbrella/search/bot')];
  const { op } = registry.ingest(mine, 't:s');
  registry.move(op, 'allow');
  expect(registry.find(theirs, 't:s')).toBeUndefined();
  expect(() => registry.get(theirs, 't:s')).toThrow(expect.objectContaining({ code: 'op_not_found' }));
  const other = registry.ingest(theirs, 't:s');
  expect(other.created).toBe(true);
  registry.move(other.op, 'terminate');
  expect(op.state).toBe('running');
});

test('a forgotten operation whose change is taken back afterwards gets no row: its id may be that of another one', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const owner = looseAgent('acme/search/bot');
  const first = registry.ingest(owner, 't:s').op;
  const takeBack = registry.change(first, { summary: 'late' });
  registry.forget(first);
  const second = registry.ingest(owner, 't:s').op;
  takeBack();
  expect([...registry.unsaved()].map(([op]) => op)).toEqual([second]);
});

test('a row that another gateway writes does not stand for what happens here at the moment', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const { op } = registry.ingest(looseAgent('acme/search/bot'), 't:s');
  registry.noteSaved(op.owner, 't:s', 7, true);
  registry.move(op, 'terminate');
  registry.noteSaved(op.owner, 't:s', 7, false);
  expect([...registry.unsaved()].map(([each]) => each)).toEqual([op]);
});

test('a row that could not be written here may have been written elsewhere, and is to be removed some day', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const { op } = registry.ingest(looseAgent('acme/search/bot'), 't:s');
  const takeBack = registry.noteSaved(op.owner, 't:s', 7, true);
  registry.noteSaved(op.owner, 't:s', 7, false);
  takeBack();
  expect(op.savedSeq).toBeGreaterThan(0);
});

/** An operation that waited here until another gateway ended it. */
function endedElsewhere(registry: MovableOps, owner: Agent, opId: string): Op {
  const { op } = registry.ingest(owner, opId);
  const asked = { ...bareRecord(owner.record.id, opId, op.registeredAt), digest: 'd' };
  const put = { movedAt: op.movedAt, seq: 1, isDurable: true };
  registry.put(owner, op, asked, put);
  registry.put(owner, op, { ...asked, state: 'terminated' }, put);
  return op;
}

test('nothing stays of an operation that another gateway ended while it waited, although nobody here looks at it', async () => {
  setFlagsFromString('--expose-gc');
  const clock = new ManualClock();
  const registry = new MovableOps(clock, ttlMs);
  const owner = looseAgent('acme/search/bot');
  const many = 5000;
  const left = Array.from({ length: many }, (_, at) => new WeakRef(endedElsewhere(registry, owner, `t:${at}`)));
  clock.advance(ttlMs);
  expect(registry.sweep()).toHaveLength(many);
  // What a weak reference was made to in this turn of the event loop lives as long.
  await setImmediate();
  (runInNewContext('gc') as () => void)();
  // The list of what has ended keeps some of its beginning.
  expect(left.filter((op) => op.deref() !== undefined).length).toBeLessThan(many / 2);
});

test('an operation that is not forgotten after all is still one that waited', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const op = endedElsewhere(registry, looseAgent('acme/search/bot'), 't:s');
  const takeBack = registry.forget(op);
  takeBack();
  expect([...registry.endedWaiting(() => true)]).toEqual([op]);
});

test('of an operation that another gateway ended while it waited, something may be left again after all', () => {
  const registry = new MovableOps(new ManualClock(), ttlMs);
  const op = endedElsewhere(registry, looseAgent('acme/search/bot'), 't:s');
  expect([...registry.endedWaiting(() => false)]).toEqual([]);
  expect([...registry.endedWaiting(() => true)]).toEqual([op]);
  registry.forget(op);
  expect([...registry.endedWaiting(() => true)]).toEqual([]);
});
