import { expect, test } from 'vitest';
import { OwnedMemory } from './owned-memory.ts';

const filled = (count: number) => 'x'.repeat(count);

test('what was used last is forgotten last', () => {
  const memory = new OwnedMemory<string>(8000);
  for (const key of ['a', 'b', 'c']) memory.remember('one', key, filled(300));
  expect(memory.find('one', 'a')).toBe(filled(300));
  memory.remember('one', 'd', filled(300));
  expect(['a', 'b', 'c', 'd'].map((key) => memory.find('one', key) !== undefined)).toEqual([true, false, true, true]);
});

test('who has much to remember makes nobody else forget', () => {
  const memory = new OwnedMemory<string>(8000);
  memory.remember('one', 'a', 'kept');
  for (let at = 0; at < 100; at++) memory.remember('other', String(at), filled(500));
  expect(memory.find('one', 'a')).toBe('kept');
  expect(memory.find('other', '99')).toBeDefined();
  expect(memory.find('other', '0')).toBeUndefined();
});

test('all together have no more than the room for all', () => {
  const memory = new OwnedMemory<string>(8000);
  for (let at = 0; at < 100; at++) memory.remember(`owner-${at}`, 'a', filled(500));
  const known = Array.from({ length: 100 }, (_, at) => memory.find(`owner-${at}`, 'a')).filter(Boolean);
  expect(known.length).toBeGreaterThan(5);
  expect(known.length).toBeLessThan(11);
  expect(memory.find('owner-99', 'a')).toBeDefined();
});

test('what is too large is not remembered, and the same key again takes no more room', () => {
  const memory = new OwnedMemory<string>(4000);
  memory.remember('one', 'a', filled(2000));
  expect(memory.find('one', 'a')).toBeUndefined();
  for (let at = 0; at < 100; at++) memory.remember('one', 'a', filled(500));
  memory.remember('two', 'b', 'kept');
  expect(memory.find('one', 'a')).toBe(filled(500));
});
