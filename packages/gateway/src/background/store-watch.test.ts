import { MemoryStore } from '@reeve/core';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { watchStore } from './store-watch.ts';
import { Health } from '../telemetry/health.ts';

/** A store that counts how often it is probed. */
class ProbedStore extends MemoryStore {
  probes = 0;
  failure: Error | undefined;

  override probe(): void {
    this.probes++;
    if (this.failure !== undefined) throw this.failure;
  }
}

const logger = pino({ level: 'silent' });

afterEach(() => {
  vi.useRealTimers();
});

test('a store that fails is probed until it takes writes again', async () => {
  vi.useFakeTimers();
  const store = new ProbedStore(0);
  const health = new Health();
  const watch = watchStore(store, health, logger);
  watch.started();
  store.failure = new Error('full');
  watch.onCommit(store.failure);
  await vi.advanceTimersByTimeAsync(1000);
  expect(store.probes).toBeGreaterThan(1);
  expect(health.status).toBe('failing');
  store.failure = undefined;
  await vi.advanceTimersByTimeAsync(1000);
  expect(health.status).toBe('ok');
  const { probes } = store;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(store.probes).toBe(probes);
});

test('once it is stopped, nothing probes the store and no timer is left, whatever is told afterwards', async () => {
  vi.useFakeTimers();
  const store = new ProbedStore(0);
  const watch = watchStore(store, new Health(), logger);
  watch.started();
  watch.onCommit(new Error('full'));
  watch.stop();
  watch.onCommit(new Error('database is not open'));
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(1000);
  expect(store.probes).toBe(0);
});
