import { describe, expect, test } from 'vitest';
import { ManualClock } from '../testkit/manual-clock.ts';
import { looseAgent } from '../testkit/loose-agent.ts';
import type { OpState, OpTrigger } from './lifecycle.ts';
import type { Op } from './op.ts';
import { allowedTriggers, isOver, nextState, opStates } from './lifecycle.ts';
import { MovableOps } from '../testkit/registered-ops.ts';

const triggers: readonly OpTrigger[] = ['allow', 'pause', 'resume', 'complete', 'terminate'];
const no = 'InvalidTransition';

/** The specification's table, "States and transitions", as a full matrix: what each trigger does in each state. */
const matrix: Readonly<Record<OpState, Readonly<Record<OpTrigger | 'ingest', OpState | typeof no>>>> = {
  pending: { ingest: 'pending', allow: 'running', pause: no, resume: no, complete: no, terminate: 'terminated' },
  running: {
    ingest: 'running',
    allow: no,
    pause: 'paused',
    resume: no,
    complete: 'completing',
    terminate: 'terminated',
  },
  paused: { ingest: 'paused', allow: no, pause: no, resume: 'running', complete: no, terminate: 'terminated' },
  completing: { ingest: 'completing', allow: no, pause: no, resume: no, complete: no, terminate: no },
  terminated: { ingest: 'terminated', allow: no, pause: no, resume: no, complete: no, terminate: 'terminated' },
};

/** How an operation gets into each state. */
const wayTo: Readonly<Record<OpState, readonly OpTrigger[]>> = {
  pending: [],
  running: ['allow'],
  paused: ['allow', 'pause'],
  completing: ['allow', 'complete'],
  terminated: ['terminate'],
};

const pairs = opStates.flatMap((state) => triggers.map((trigger) => ({ state, trigger, to: matrix[state][trigger] })));

function registryWith(state: OpState): { registry: MovableOps; op: Op; clock: ManualClock } {
  const clock = new ManualClock();
  const registry = new MovableOps(clock, 60_000);
  const { op } = registry.ingest(looseAgent('acme/search/bot'), 't:s');
  for (const trigger of wayTo[state]) registry.move(op, trigger);
  clock.advance(1000);
  return { registry, op, clock };
}

test('the matrix has every state and every trigger of the specification', () => {
  expect(opStates).toEqual(['pending', 'running', 'paused', 'completing', 'terminated']);
  expect(pairs).toHaveLength(25);
  expect(pairs.filter(({ to }) => to !== no)).toHaveLength(8);
});

describe.each(pairs.filter(({ to }) => to !== no && to !== 'terminated'))('$trigger of a $state op', (pair) => {
  test(`leads to ${pair.to} and is dated`, () => {
    const { registry, op, clock } = registryWith(pair.state);
    const registeredAt = op.registeredAt;
    registry.move(op, pair.trigger);
    expect(op).toMatchObject({ state: pair.to, updatedAt: clock.now(), movedAt: clock.elapsed(), registeredAt });
  });
});

test.each(opStates.filter((state) => state !== 'completing'))('terminate of a %s op leads to terminated', (state) => {
  const { registry, op } = registryWith(state);
  registry.move(op, 'terminate');
  expect(op.state).toBe('terminated');
});

test('terminate of a terminated op returns it unchanged and without error', () => {
  const { registry, op } = registryWith('terminated');
  const before = { ...op };
  expect(registry.move(op, 'terminate')).toBeUndefined();
  expect(op).toEqual(before);
});

test.each(pairs.filter(({ to }) => to === no))(
  '$trigger of a $state op is an invalid transition that changes nothing',
  ({ state, trigger }) => {
    const { registry, op } = registryWith(state);
    const before = { ...op };
    const allowed = triggers.filter((candidate) => matrix[state][candidate] !== no);
    expect(() => registry.move(op, trigger)).toThrow(
      expect.objectContaining({
        code: 'invalid_transition',
        message: expect.stringContaining(`cannot ${trigger} an operation that is ${state}`) as string,
        facts: { state, allowed: expect.arrayContaining(allowed) as string[] },
      }),
    );
    expect(op).toEqual(before);
    expect(allowedTriggers(state).toSorted()).toEqual(allowed.toSorted());
    expect(nextState(state, trigger)).toBeUndefined();
  },
);

test.each(opStates)('ingesting a %s op again returns the existing record unchanged', (state) => {
  const { registry, op } = registryWith(state);
  const before = { ...op };
  const again = registry.ingest(op.owner, op.opId);
  expect(again).toEqual({ op: before, created: false });
  expect(again.op).toBe(op);
  expect(matrix[state].ingest).toBe(op.state);
});

test.each(opStates)('a %s op is removed by the sweep only where it is over', (state) => {
  const { registry, op, clock } = registryWith(state);
  registry.durable(op);
  clock.advance(60_000);
  expect(isOver(state)).toBe(state === 'completing' || state === 'terminated');
  expect(registry.sweep()).toEqual(isOver(state) ? [op] : []);
  expect(registry.find(op.owner, op.opId)).toBe(isOver(state) ? undefined : op);
});

test('an unknown op is not found', () => {
  const { registry, op } = registryWith('running');
  expect(() => registry.get(op.owner, 't:other')).toThrow(expect.objectContaining({ code: 'op_not_found' }));
});
