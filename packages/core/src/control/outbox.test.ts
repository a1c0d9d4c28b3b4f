import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentId } from '../testkit/requests.ts';
import type { QueuedMessage } from './outbox.ts';
import { Outbox } from './outbox.ts';

function queued(sequence: number, opId = `t:${sequence}`): QueuedMessage {
  const message = { opId, signal: 'pause', sequence, reason: '', issuedAt: 0, controlId: '' } as const;
  return { message, receipt: null, released: true, gone: false };
}

test('it is a list by number, whatever comes and goes', () => {
  const someStep = fc.record({ put: fc.boolean(), sequence: fc.integer({ min: 1, max: 300 }) });
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 600 }), fc.nat({ max: 301 }), (steps, after) => {
      const outbox = new Outbox(agentId('a/b/c'));
      const model = new Set<number>();
      for (const { put, sequence } of steps) {
        if (put) outbox.put(queued(sequence));
        else outbox.remove(sequence);
        if (put) model.add(sequence);
        else model.delete(sequence);
      }
      const left = [...model].sort((a, b) => a - b);
      expect([...outbox.queued()].map(({ message }) => message.sequence)).toEqual(left);
      expect(outbox.size).toBe(left.length);
      expect(outbox.next(after)?.message.sequence).toBe(left.find((sequence) => sequence > after));
      expect(outbox.find(after) !== undefined).toBe(model.has(after));
    }),
  );
});

test('what can best be done without is what was overtaken, then what is about nothing, then the oldest', () => {
  const outbox = new Outbox(agentId('a/b/c'));
  const give = () => {
    const given = outbox.mostDispensable((opId) => opId !== 'gone:s');
    if (given !== undefined) outbox.remove(given.message.sequence);
    return given?.message.sequence;
  };
  outbox.put(queued(1, 'x:s'));
  outbox.put(queued(2, 'y:s'));
  outbox.put(queued(3, 'gone:s'));
  outbox.put(queued(4, 'y:s'));
  outbox.put(queued(5, 'z:s'));
  expect([give(), give(), give(), give(), give(), give()]).toEqual([2, 3, 1, 4, 5, undefined]);
});
