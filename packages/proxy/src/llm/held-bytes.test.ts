import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { HeldBytes } from './held-bytes.ts';

test('one agent takes a quarter, and all together no more than there is', () => {
  const held = new HeldBytes({ most: 1000, mostTogether: 100_000 });
  const rooms = ['a', 'b', 'c', 'd', 'e'].map((owner) => held.roomFor(owner));
  for (const room of rooms.slice(0, 4)) {
    expect(room.take(24_000)).toBe(true);
    expect(room.take(2000)).toBe(false);
  }
  expect(rooms[4]?.take(4000)).toBe(false);
  for (const room of rooms) room.release();
  expect(rooms[4]?.take(24_000)).toBe(true);
});

test('an agent may hold two things of the largest size, however little there is', () => {
  const held = new HeldBytes({ most: 1000, mostTogether: 4000 });
  expect(held.roomFor('a').take(1872)).toBe(true);
  expect(held.roomFor('a').take(1)).toBe(false);
});

test('what is released is free, whatever was taken and refused before', () => {
  const owners = fc.constantFrom('a', 'b', 'c');
  fc.assert(
    fc.property(fc.array(fc.tuple(owners, fc.nat(60_000)), { maxLength: 30 }), (takes) => {
      const held = new HeldBytes({ most: 1000, mostTogether: 100_000 });
      const rooms = takes.map(([owner, bytes]) => {
        const room = held.roomFor(owner);
        room.take(bytes);
        return room;
      });
      for (const room of rooms) room.release();
      for (const room of rooms) room.release();
      for (const owner of ['a', 'b', 'c']) expect(held.roomFor(owner).take(24_000)).toBe(true);
    }),
  );
});
