import { expect, test } from 'vitest';
import { looseAgent } from '../testkit/loose-agent.ts';
import type { OpMembers } from './op.ts';
import { assignMembers, bareRecord, membersOf, newOp } from './op.ts';

test('every member of an operation is taken over from a record', () => {
  const owner = looseAgent('acme/search/bot');
  const op = newOp(owner, bareRecord(owner.record.id, 't:s', 0), { movedAt: 0, seq: 0, savedSeq: 0, hasEnded: false });
  const names = Object.keys(membersOf(op));
  // The compiler requires that `membersOf` is complete. Here it does not matter what the values are.
  const others = Object.fromEntries(names.map((name) => [name, `another ${name}`])) as unknown as OpMembers;
  assignMembers(op, others);
  expect(membersOf(op)).toEqual(others);
});
