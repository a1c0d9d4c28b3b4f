import { isOver } from '@reeve/contract/names';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Control, ControlAction, Op, OpState } from './op.ts';
import { outcomeOf } from './op.ts';
import type { Row, RowInput } from './row-model.ts';
import { canAsk, newRow, noticeMs, reduceRow } from './row-model.ts';
import { anOp, aControl, at } from './testkit.ts';

const actions = ['pause', 'resume', 'terminate'] as const;

function ask(row: Row, action: ControlAction, id: number, deadline = 1000): Row {
  return reduceRow(row, { type: 'asked', intent: { id, action, reason: '', deadline } });
}

function event(row: Row, state: OpState, eventId: number, control: Control | null = null): Row {
  return reduceRow(row, { type: 'told', op: anOp({ state, updated_at: at(eventId), control }), eventId, at: eventId });
}

describe('an intent', () => {
  const running = newRow(anOp({ state: 'running', updated_at: at(0) }), 0);

  test('is cleared by the confirming event', () => {
    const row = event(ask(running, 'pause', 1), 'paused', 1);
    expect(row).toMatchObject({ op: { state: 'paused' }, intent: undefined, notice: undefined });
  });

  test('that another operator has made impossible ends, and says what happened', () => {
    const control = aControl({ id: 'theirs', action: 'terminate', actor: { kind: 'account', id: 'b', label: 'Bo' } });
    const row = event(ask(running, 'pause', 1), 'terminated', 1, control);
    expect(row.intent).toBeUndefined();
    expect(row.notice).toMatchObject({ kind: 'overtaken', action: 'pause', by: 'terminated' });
    expect(row.op.control?.actor.label).toBe('Bo');
  });

  test('stays while it can still come true', () => {
    const pending = newRow(anOp({ state: 'pending', updated_at: at(0) }), 0);
    expect(event(ask(pending, 'terminate', 1), 'running', 1).intent).toMatchObject({ action: 'terminate' });
  });

  test('ends at its deadline, and the state is the gateway’s', () => {
    const row = reduceRow(ask(running, 'pause', 1, 500), { type: 'tick', now: 500 });
    expect(row).toMatchObject({ op: { state: 'running' }, intent: undefined, notice: { kind: 'late' } });
    expect(canAsk(row, 'pause')).toBe(true);
  });

  test('that is refused says why and what is allowed', () => {
    const refusal = { detail: 'cannot pause', code: 'invalid_transition', state: 'paused', allowed: ['resume'] };
    const row = reduceRow(ask(running, 'pause', 1), { type: 'refused', intentId: 1, action: 'pause', refusal, at: 5 });
    expect(row).toMatchObject({ intent: undefined, notice: { kind: 'refused', allowed: ['resume'] } });
    expect(reduceRow(row, { type: 'tick', now: 5 + noticeMs }).notice).toBeUndefined();
  });

  test('that a later one has replaced is not heard of any more', () => {
    const refusal = { detail: 'cannot pause', code: 'invalid_transition', state: 'terminated', allowed: [] };
    const row = ask(ask(running, 'pause', 1), 'terminate', 2);
    expect(reduceRow(row, { type: 'refused', intentId: 1, action: 'pause', refusal, at: 5 })).toBe(row);
  });

  test('to terminate what somebody has terminated says so', () => {
    const op = anOp({ state: 'terminated', updated_at: at(1) });
    const accepted: RowInput = { type: 'accepted', intentId: 1, action: 'terminate', op, isNoop: true, at: 9 };
    const row = reduceRow(ask(running, 'terminate', 1), accepted);
    expect(row).toMatchObject({ intent: undefined, notice: { kind: 'overtaken', by: 'terminated' } });
  });
});

describe('a row', () => {
  test('is the same where nothing has changed', () => {
    const row = event(newRow(anOp({ updated_at: at(0) }), 0), 'running', 3);
    expect(reduceRow(row, { type: 'told', op: anOp({ state: 'pending', updated_at: at(1) }), at: 9 })).toBe(row);
    expect(reduceRow(row, { type: 'tick', now: 9e9 })).toBe(row);
  });

  test('keeps what it knows of a receipt when an older telling comes', () => {
    const control = aControl({ status: 'effective' });
    const row = newRow(anOp({ state: 'paused', updated_at: at(1), control }), 0);
    const told = reduceRow(row, {
      type: 'told',
      op: anOp({ state: 'paused', updated_at: at(1), control: aControl({ status: 'requested' }) }),
      eventId: 7,
      at: 9,
    });
    expect(told.op.control?.status).toBe('effective');
    expect(reduceRow(told, { type: 'receipt', control: aControl({ id: 'other', status: 'failed' }) })).toBe(told);
  });

  test('takes what the gateway says by an event even where its clock went back', () => {
    const row = event(newRow(anOp({ updated_at: at(0) }), 0), 'running', 50);
    const told: RowInput = { type: 'told', op: anOp({ state: 'paused', updated_at: at(2) }), eventId: 51, at: 9 };
    expect(reduceRow(row, told).op.state).toBe('paused');
  });
});

/** A gateway of one operation. Every move has its event. Answers and lists show the state of their moment. */
class Story {
  readonly inputs: RowInput[] = [];
  readonly #late: RowInput[] = [];
  #op: Op = anOp({ state: 'pending', updated_at: at(0) });
  #eventId = 0;
  #ms = 0;
  #intents = 0;
  now = 0;

  get state(): OpState {
    return this.#op.state;
  }

  /** Several moves may fall into one millisecond. */
  move(state: OpState, ms: number, by: ControlAction | undefined): void {
    this.#ms += ms;
    this.#eventId += 1;
    const control = by === undefined ? this.#op.control : aControl({ id: `c${this.#eventId}`, action: by });
    this.#op = { ...this.#op, state, updated_at: at(this.#ms), control };
    this.inputs.push({ type: 'told', op: this.#op, eventId: this.#eventId, at: this.now });
  }

  look(isLate: boolean): void {
    this.#say({ type: 'told', op: this.#op, at: this.now }, isLate);
  }

  /** This page asks. The gateway obeys or refuses, and its answer may come at any later time. */
  ask(action: ControlAction, isLate: boolean, fate: 'answered' | 'unanswered', patience: number): void {
    const intentId = ++this.#intents;
    this.inputs.push({
      type: 'asked',
      intent: { id: intentId, action, reason: '', deadline: this.now + patience },
    });
    const next = outcomeOf(this.#op.state, action);
    if (next !== undefined) this.move(next, 1, action);
    if (fate === 'unanswered')
      this.#say({ type: 'unanswered', intentId, action, detail: 'lost', at: this.now }, isLate);
    else if (next === undefined) {
      const refusal = { detail: 'no', code: 'invalid_transition', state: this.#op.state, allowed: [] };
      this.#say({ type: 'refused', intentId, action, refusal, at: this.now }, isLate);
    } else {
      this.#say({ type: 'accepted', intentId, action, op: this.#op, isNoop: false, at: this.now }, isLate);
    }
  }

  wait(ms: number): void {
    this.now += ms;
    this.inputs.push({ type: 'tick', now: this.now });
  }

  arrive(): void {
    this.inputs.push(...this.#late.splice(0, 1));
  }

  end(): void {
    this.inputs.push(...this.#late);
  }

  #say(input: RowInput, isLate: boolean): void {
    if (isLate) this.#late.push(input);
    else this.inputs.push(input);
  }
}

const stage = fc.oneof(
  fc.record({
    do: fc.constant('move' as const),
    to: fc.constantFrom('running', 'paused', 'completing', 'terminated'),
    ms: fc.integer({ min: 0, max: 2 }),
  }),
  fc.record({
    do: fc.constant('ask' as const),
    action: fc.constantFrom(...actions),
    isLate: fc.boolean(),
    fate: fc.constantFrom('answered', 'unanswered'),
    patience: fc.integer({ min: 1, max: 50 }),
  }),
  fc.record({ do: fc.constant('look' as const), isLate: fc.boolean() }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ do: fc.constant('arrive' as const) }),
);

const story = fc.array(stage, { maxLength: 40 }).map((stages) => {
  const told = new Story();
  for (const it of stages) {
    if (it.do === 'move') {
      if (!isOver(told.state)) told.move(it.to, it.ms, undefined);
    } else if (it.do === 'ask') told.ask(it.action, it.isLate, it.fate, it.patience);
    else if (it.do === 'look') told.look(it.isLate);
    else if (it.do === 'wait') told.wait(it.ms);
    else told.arrive();
  }
  told.end();
  return { inputs: told.inputs, state: told.state };
});

/** Events keep their order among themselves. Answers, lists and ticks fall anywhere between them. */
const shuffled = fc.tuple(story, fc.array(fc.nat(), { maxLength: 120 })).map(([told, picks]) => {
  const isEvent = (input: RowInput) => input.type === 'told' && input.eventId !== undefined;
  const lanes = [told.inputs.filter(isEvent), told.inputs.filter((input) => !isEvent(input))];
  const inputs: RowInput[] = [];
  for (const pick of picks) inputs.push(...(lanes[pick % 2]?.splice(0, 1) ?? []));
  return { ...told, inputs: [...inputs, ...lanes.flat()] };
});

const first = newRow(anOp({ state: 'pending', updated_at: at(0) }), 0);

describe('whatever the order of events, answers and timeouts', () => {
  test('the row ends in the state that the gateway says', () => {
    fc.assert(
      fc.property(shuffled, ({ inputs, state }) => {
        expect(inputs.reduce(reduceRow, first).op.state).toBe(state);
      }),
      { numRuns: 2000 },
    );
  });

  test('no intent survives its deadline', () => {
    fc.assert(
      fc.property(shuffled, fc.nat(100), ({ inputs }, later) => {
        const rows = inputs.map((_, index) => inputs.slice(0, index + 1).reduce(reduceRow, first));
        for (const row of rows) {
          const now = (row.intent?.deadline ?? 0) + later;
          expect(reduceRow(row, { type: 'tick', now }).intent).toBeUndefined();
        }
      }),
    );
  });

  test('an intent is gone once its own answer has come, and a wish that cannot come true is never shown', () => {
    fc.assert(
      fc.property(shuffled, ({ inputs }) => {
        let row = first;
        for (const input of inputs) {
          row = reduceRow(row, input);
          if ('intentId' in input) expect(row.intent?.id).not.toBe(input.intentId);
          if (row.intent !== undefined && input.type === 'told') {
            expect(outcomeOf(row.op.state, row.intent.action)).toBeDefined();
          }
        }
      }),
    );
  });

  test('terminate is offered for as long as there is something to end', () => {
    fc.assert(
      fc.property(shuffled, ({ inputs }) => {
        let row = first;
        for (const input of inputs) {
          row = reduceRow(row, input);
          expect(canAsk(row, 'terminate')).toBe(!isOver(row.op.state));
        }
      }),
    );
  });
});
