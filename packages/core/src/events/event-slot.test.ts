import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DomainEvent } from '../kernel/events.ts';
import { someAgentId, someOp } from '../testkit/store-samples.ts';
import { EventSlot } from './event-slot.ts';

const at = fc.integer({ min: 0, max: 4_102_444_800_000 });

const someEvent: fc.Arbitrary<DomainEvent> = fc.oneof(
  fc.tuple(at, someOp, fc.boolean()).map(([when, { seq: _seq, controlId: _controlId, ...op }, stale]): DomainEvent => {
    return { type: 'ops_change', at: when, agent: op.agent, op: { ...op, control: null, stale } };
  }),
  fc.record({
    type: fc.constant('decision' as const),
    at,
    agent: someAgentId,
    decision: fc.constantFrom('allow', 'deny', 'pending'),
    reason: fc.string(),
    policyRule: fc.string(),
    opId: fc.string(),
  }),
  fc.record({
    type: fc.constant('agent' as const),
    at,
    agent: someAgentId,
    change: fc.constantFrom('registered', 'suspended'),
  }),
  fc.record({
    type: fc.constant('audit_alert' as const),
    at,
    agent: someAgentId,
    alert: fc.constant('op_stale' as const),
    details: fc.constant({ op_id: 't:s' }),
  }),
  at.map((when): DomainEvent => ({ type: 'policy', at: when, version: 'v', error: null })),
);

test('what is put comes out as it was, whatever stood there before', () => {
  fc.assert(
    fc.property(fc.array(someEvent, { minLength: 1, maxLength: 10 }), (events) => {
      const slot = new EventSlot();
      for (const event of events) {
        slot.put(event);
        expect(slot.get()).toEqual(event);
      }
    }),
  );
});

test('what came out stays as it is when something else is put', () => {
  const op = fc.sample(someOp, { numRuns: 1, seed: 1 })[0];
  if (op === undefined) throw new Error('there is no operation');
  const { seq: _, controlId: __, ...record } = op;
  const slot = new EventSlot();
  slot.put({ type: 'ops_change', at: 1, agent: record.agent, op: { ...record, control: null, stale: false } });
  const out = slot.get();
  const before = structuredClone(out);
  slot.put({
    type: 'ops_change',
    at: 2,
    agent: record.agent,
    op: { ...record, opId: 'x:y', control: null, stale: true },
  });
  expect(out).toEqual(before);
});

test('a new one holds nothing', () => {
  expect(new EventSlot().get()).toBeUndefined();
});
