import { expect, test } from 'vitest';
import { looseAgent } from '../testkit/loose-agent.ts';
import { assignBody, MutableOp } from './mutable-op.ts';
import type { OpMembers } from './op.ts';
import { bareRecord, membersOf } from './op.ts';
import { SharedTraits } from './shared-traits.ts';

const owner = looseAgent('acme/search/bot');
const bare = bareRecord(owner.record.id, 't:s', 0);
const known = { movedAt: 0, seq: 0, savedSeq: 0, hasEnded: false };

/** The compiler requires that `membersOf` is complete. Here it does not matter what the values are. */
const names = Object.keys(membersOf(bare)) as (keyof OpMembers)[];
const others = Object.fromEntries(names.map((name) => [name, `another ${name}`])) as unknown as OpMembers;

test('every member of an operation is taken over from a record', () => {
  const traits = new SharedTraits();
  const op = new MutableOp(owner, bare, traits.of(bare), known);
  expect(membersOf(op)).toEqual(membersOf(bare));
  assignBody(op, traits.of(others), others);
  expect(membersOf(op)).toEqual(others);
});

test.each(names)('operations that differ in one member alone keep their own: %s', (name) => {
  const traits = new SharedTraits();
  const texts = { resource: 'one', reason: 'one', policyRule: 'one' };
  const members = { ...membersOf(bare), ...texts, via: { door: 'mcp', name: 'one' }, delegators: ['lead'] } as const;
  const another = typeof members[name] === 'string' ? 'two' : [`another ${name}`];
  const different = { ...members, [name]: name === 'via' ? { door: 'mcp', name: 'another' } : another };
  const ops = [members, different as unknown as OpMembers].map(
    (each) => new MutableOp(owner, { ...bare, ...each }, traits.of(each), known),
  );
  expect(ops.map(membersOf)).toEqual([members, different]);
});

test('operations that are alike share what they have in common', () => {
  const traits = new SharedTraits();
  const made = () => ({ ...membersOf(bare), via: { door: 'mcp', name: 'one' }, delegators: ['lead'] }) as const;
  expect(traits.of(made())).toBe(traits.of(made()));
});
