import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReeveError } from '@reeve/core';
import { expect, test } from 'vitest';
import { Rounds } from './rounds.ts';

const turns = { ownTurn: async <Result>(act: () => Result) => act(), nextTurn: () => nextTurn() };

function roundsThatFailOn(errors: unknown[]): Rounds {
  return new Rounds((error) => errors.push(error));
}

test('a stop ends a round that would go on for ever, and nothing of it runs afterwards', async () => {
  const rounds = roundsThatFailOn([]);
  let steps = 0;
  const start = rounds.ofTurns(turns, () => ++steps > 0);
  start();
  await nextTurn();
  await nextTurn();
  expect(steps).toBeGreaterThan(1);
  await rounds.stop();
  const atStop = steps;
  for (let i = 0; i < 20; i++) await nextTurn();
  start();
  expect(steps).toBe(atStop);
});

test('a stop waits for the step that is under way', async () => {
  const rounds = roundsThatFailOn([]);
  const { promise, resolve } = Promise.withResolvers<void>();
  rounds.ofTurns({ ...turns, ownTurn: async (act) => promise.then(act) }, () => true)();
  let isStopped = false;
  const stopping = rounds.stop().then(() => (isStopped = true));
  for (let i = 0; i < 5; i++) await nextTurn();
  expect(isStopped).toBe(false);
  resolve();
  await stopping;
  expect(isStopped).toBe(true);
});

test('a round pauses between its steps, and a stop ends the pause', async () => {
  const rounds = roundsThatFailOn([]);
  let steps = 0;
  const start = rounds.ofTurns(turns, () => ++steps > 0, 3_600_000);
  start();
  for (let i = 0; i < 20; i++) await nextTurn();
  expect(steps).toBe(1);
  await rounds.stop();
  expect(steps).toBe(1);
});

test('no round starts while another is under way, and the next one starts once it is over', async () => {
  const rounds = roundsThatFailOn([]);
  let left = 3;
  const start = rounds.ofTurns(turns, () => --left > 0);
  start();
  start();
  for (let i = 0; i < 20; i++) await nextTurn();
  expect(left).toBe(0);
  left = 1;
  start();
  await nextTurn();
  expect(left).toBe(0);
});

test('what cannot be made durable waits for the next round', async () => {
  const rounds = roundsThatFailOn([]);
  let steps = 0;
  const full = new ReeveError('store_unavailable', 'the disk is full');
  const failing = async <Result>(act: () => Result): Promise<Result> => {
    act();
    throw full;
  };
  const start = rounds.ofTurns({ ...turns, ownTurn: failing }, () => ++steps > 0);
  start();
  for (let i = 0; i < 5; i++) await nextTurn();
  expect(steps).toBe(1);
  start();
  expect(steps).toBe(2);
});

test('a round that fails is told of and comes again', async () => {
  const errors: unknown[] = [];
  const rounds = roundsThatFailOn(errors);
  const start = rounds.of(() => Promise.reject(new Error('no')));
  start();
  await nextTurn();
  start();
  await rounds.stop();
  expect(errors).toHaveLength(2);
});

test('a turn that fails is reported, unless the store is away', async () => {
  const errors: unknown[] = [];
  const rounds = roundsThatFailOn(errors);
  const fault = new Error('a fault');
  const away = new ReeveError('store_unavailable', 'the audit log cannot be written');
  for (const error of [away, fault]) {
    rounds.ofTurns({ ...turns, ownTurn: () => Promise.reject(error) }, () => true)();
  }
  await nextTurn();
  expect(errors).toEqual([fault]);
  await rounds.stop();
});
