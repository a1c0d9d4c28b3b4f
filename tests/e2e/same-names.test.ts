import type { Entrance as WireEntrance, OpState as WireState, OpTrigger as WireTrigger } from '@reeve/contract/names';
import { isOver as isOverOnTheWire, opStates, opTriggers } from '@reeve/contract/names';
import { allowedTriggers, isOver, nextState } from '../../packages/core/src/ops/lifecycle.ts';
import type { OpState, OpTrigger } from '../../packages/core/src/ops/lifecycle.ts';
import type { Entrance } from '../../packages/core/src/kernel/entrance.ts';
import { expect, expectTypeOf, test } from 'vitest';

test('the contract and the core call states, triggers and entrances the same', () => {
  expectTypeOf<WireEntrance>().toEqualTypeOf<Entrance>();
  expectTypeOf<WireState>().toEqualTypeOf<OpState>();
  expectTypeOf<WireTrigger>().toEqualTypeOf<OpTrigger>();
  for (const state of opStates) {
    expect(isOverOnTheWire(state)).toBe(isOver(state));
    expect(opTriggers).toEqual(expect.arrayContaining([...allowedTriggers(state)]));
    for (const trigger of opTriggers) expect([...opStates, undefined]).toContain(nextState(state, trigger));
  }
});
