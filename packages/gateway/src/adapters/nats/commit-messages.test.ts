import { expect, test } from 'vitest';
import { commitsOf, messagesOf } from './commit-messages.ts';

const plenty = 1_000_000;

function commit(version: number, facts = `[${version},"\\u001e"]`) {
  return { version, gateway: `g/${version}`, before: `g/${version - 1}`, seq: version, hash: 'ä', facts };
}

test('several commits come back from one message, in order', () => {
  const commits = [commit(1), commit(2, '["ü\\n"]'), commit(3)];
  const [message, ...others] = messagesOf(commits, plenty);
  expect(others).toEqual([]);
  expect(commitsOf(message ?? Buffer.of())).toEqual(commits);
});

test('one commit travels as earlier releases read it', () => {
  const [message = Buffer.of()] = messagesOf([commit(1)], plenty);
  const [head = '', facts] = message.toString().split('\n');
  expect({ ...(JSON.parse(head) as object), facts }).toEqual(commit(1));
  expect(commitsOf(message)).toEqual([commit(1)]);
});

test('an earlier release takes several commits for one that is only named, and reads them', () => {
  const [message] = messagesOf([commit(1), commit(2)], plenty);
  expect(message?.includes('\n')).toBe(false);
});

test('messages keep to their size, and a commit that is larger is only named', () => {
  const large = commit(4, 'ü'.repeat(200));
  const commits = [commit(1), commit(2), commit(3), large, commit(5)];
  const mostBytes = 200;
  const messages = messagesOf(commits, mostBytes);
  expect(Math.max(...messages.map(({ length }) => length))).toBeLessThanOrEqual(mostBytes);
  expect(messages.map(commitsOf)).toEqual([[commit(1), commit(2)], [commit(3)], undefined, [commit(5)]]);
  expect(JSON.parse(String(messages[2]))).toMatchObject({ version: 4 });
});
