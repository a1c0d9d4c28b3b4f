import { expect, test } from 'vitest';
import { eventually } from '../../../../../tests/harness/eventually.ts';
import { commitsOf } from './commit-messages.ts';
import { CommitTeller } from './commit-teller.ts';

const never = Number.NEGATIVE_INFINITY;

/** A teller, and the numbers of the commits in each message. Its clock stands still, so that a slow machine changes nothing. */
function teller({ followedAt = never } = {}) {
  const messages: (readonly number[] | undefined)[] = [];
  const clock = { at: 1000 };
  const bus = {
    mostBytes: 100_000,
    publish: (_topic: string, payload: Uint8Array) => {
      messages.push(commitsOf(payload)?.map(({ version }) => version));
      return true;
    },
  };
  const made = new CommitTeller({ bus, followedAt: () => followedAt, elapsed: () => clock.at });
  const tell = (version: number) => made.tell({ version, gateway: 'g/1', seq: version, hash: 'h', facts: '[]' });
  return { made, messages, clock, tell };
}

test('a commit is told at once, and those right after it together', async () => {
  const { messages, tell } = teller();
  tell(1);
  expect(messages).toEqual([[1]]);
  for (const version of [2, 3, 4]) tell(version);
  expect(messages).toEqual([[1]]);
  await eventually(() => expect(messages).toEqual([[1], [2, 3, 4]]));
});

test('a commit after a pause is told at once', () => {
  const { messages, clock, tell } = teller();
  tell(1);
  clock.at += 10;
  tell(2);
  expect(messages).toEqual([[1], [2]]);
});

test('commits are told at once while another gateway commits, too', () => {
  const { messages, tell } = teller({ followedAt: 960 });
  tell(1);
  tell(2);
  expect(messages).toEqual([[1], [2]]);
});

test('what waits is told before the bus closes, once', async () => {
  const { made, messages, tell } = teller();
  tell(1);
  tell(2);
  made.flush();
  expect(messages).toEqual([[1], [2]]);
  tell(3);
  await eventually(() => expect(messages).toEqual([[1], [2], [3]]));
});
