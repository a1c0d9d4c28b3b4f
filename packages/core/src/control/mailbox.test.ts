import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentId } from '../testkit/requests.ts';
import type { Letter } from './mailbox.ts';
import { Mailbox } from './mailbox.ts';

function letter(sequence: number, opId = `t:${sequence}`): Letter {
  const message = { opId, signal: 'pause', sequence, reason: '', issuedAt: 0, controlId: '' } as const;
  return { message, receipt: null, released: true, gone: false };
}

test('it is a list by number, whatever comes and goes', () => {
  const someStep = fc.record({ put: fc.boolean(), sequence: fc.integer({ min: 1, max: 300 }) });
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 600 }), fc.nat({ max: 301 }), (steps, after) => {
      const mailbox = new Mailbox(agentId('a/b/c'));
      const model = new Set<number>();
      for (const { put, sequence } of steps) {
        if (put) mailbox.put(letter(sequence));
        else mailbox.remove(sequence);
        if (put) model.add(sequence);
        else model.delete(sequence);
      }
      const left = [...model].sort((a, b) => a - b);
      expect([...mailbox.letters()].map(({ message }) => message.sequence)).toEqual(left);
      expect(mailbox.size).toBe(left.length);
      expect(mailbox.next(after)?.message.sequence).toBe(left.find((sequence) => sequence > after));
      expect(mailbox.find(after) !== undefined).toBe(model.has(after));
    }),
  );
});

test('what can best be done without is what was overtaken, then what is about nothing, then the oldest', () => {
  const mailbox = new Mailbox(agentId('a/b/c'));
  const give = () => {
    const given = mailbox.mostDispensable((opId) => opId !== 'gone:s');
    if (given !== undefined) mailbox.remove(given.message.sequence);
    return given?.message.sequence;
  };
  mailbox.put(letter(1, 'x:s'));
  mailbox.put(letter(2, 'y:s'));
  mailbox.put(letter(3, 'gone:s'));
  mailbox.put(letter(4, 'y:s'));
  mailbox.put(letter(5, 'z:s'));
  expect([give(), give(), give(), give(), give(), give()]).toEqual([2, 3, 1, 4, 5, undefined]);
});
