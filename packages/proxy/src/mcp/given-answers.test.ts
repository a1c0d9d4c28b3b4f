import { expect, it } from 'vitest';
import { GivenAnswers } from './given-answers.ts';
import { messageOf } from './protocol/message.ts';

const answer = (text: string) => messageOf({ jsonrpc: '2.0', id: 1, result: { text } });

it('gives again what was given, and nothing that was not', () => {
  const given = new GivenAnswers();
  given.add(answer('plain'), answer('plain'));
  given.add(answer('secret'), answer('[masked]'));
  expect(given.find(answer('plain'))).toEqual(answer('plain'));
  expect(given.find(answer('secret'))).toEqual(answer('[masked]'));
  // Under the same id, another answer was never given.
  expect(given.find(answer('other'))).toBeUndefined();
});

it('keeps no more than it has room for, and forgets the oldest', () => {
  const given = new GivenAnswers();
  const long = 'x'.repeat(100_000);
  given.add(answer(`secret ${long}`), answer(long));
  expect(given.find(answer(`secret ${long}`))).toBeUndefined();
  for (let at = 0; at <= 16; at++) given.add(answer(`secret ${at}`), answer('[masked]'));
  expect([0, 1, 16].map((at) => given.find(answer(`secret ${at}`)))).toEqual([
    undefined,
    answer('[masked]'),
    answer('[masked]'),
  ]);
  for (let at = 0; at <= 10_000; at++) given.add(answer(`plain ${at}`), answer(`plain ${at}`));
  expect(given.find(answer('plain 0'))).toBeUndefined();
  expect(given.find(answer('plain 1'))).toBeDefined();
});
