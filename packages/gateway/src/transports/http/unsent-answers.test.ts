import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { SharedRoom } from '@reeve/grpc-server';
import { expect, test } from 'vitest';
import { UnsentAnswers } from './unsent-answers.ts';

const roomFor = (bytes: number) => new SharedRoom({ ofStrangers: bytes, ofAccount: bytes, nearlyFullFrom: 1 / 2 });
const response = () => new ServerResponse(new IncomingMessage(new Socket()));
const large = 'x'.repeat(100_000);
const refused = expect.objectContaining({ code: 'rate_limited', headers: { 'retry-after': '1' } });

test('a tenant that reads none of its answers gets no more until it does', () => {
  const unsent = new UnsentAnswers(roomFor(500_000));
  const answers = [response(), response(), response()];
  for (const answer of answers) {
    unsent.requireRead('org:acme');
    unsent.hold('org:acme', large, answer);
  }
  expect(() => unsent.requireRead('org:acme')).toThrow(refused);
  unsent.requireRead('org:umbrella');
  answers[0]?.emit('close');
  unsent.requireRead('org:acme');
});

test('small answers and streams do not count', () => {
  const unsent = new UnsentAnswers(roomFor(190_000));
  unsent.hold('org:acme', 'x'.repeat(1000), response());
  unsent.hold('org:acme', undefined, response());
  unsent.requireRead('org:acme');
  unsent.hold('org:acme', Buffer.from(large), response());
  expect(() => unsent.requireRead('org:acme')).toThrow(refused);
});

test('a client that takes nothing for long is cut off', () => {
  const answer = response();
  new UnsentAnswers(roomFor(1e6)).hold('org:acme', large, answer);
  answer.emit('timeout');
  expect(answer.destroyed).toBe(true);
});

test('answers to strangers count together, and the largest is cut off first; what is the same for all does not count', () => {
  const unsent = new UnsentAnswers(roomFor(250_000));
  const [one, other, file] = [response(), response(), response()];
  unsent.hold(undefined, Buffer.alloc(1_000_000), file);
  unsent.hold(undefined, large, one);
  unsent.hold(undefined, 'x'.repeat(160_000), other);
  expect([one.destroyed, other.destroyed, file.destroyed]).toEqual([false, true, false]);
});
