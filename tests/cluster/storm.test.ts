import { expect, test } from 'vitest';
import type { Aftermath } from './storm/run-storm.ts';
import { runStorm } from './storm/run-storm.ts';

// All that happens by chance follows from the seed, as far as gateways that race with each other allow.
const seed = Number(process.env['REEVE_CLUSTER_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const stormMs = Number(process.env['REEVE_CLUSTER_SECS'] ?? 25) * 1000;
const withSeed = `REEVE_CLUSTER_SEED=${seed} REEVE_CLUSTER_SECS=${stormMs / 1000}`;

function expectNoFaults({ faults, story, books }: Aftermath): void {
  if (process.env['REEVE_CLUSTER_STORY'] !== undefined || faults.length > 0) process.stdout.write(`${story}\n`);
  expect(faults.slice(0, 20), `${withSeed}\n${story}`).toEqual([]);
  // The caps were filled and enforced.
  expect(books.refusals).toBeGreaterThan(0);
  expect(Math.max(...Object.values(books.peaks))).toBeGreaterThan(0.9);
}

test('three gateways in a storm act as one', { timeout: stormMs + 300_000 }, async () => {
  process.stdout.write(`cluster storm: ${withSeed}\n`);
  const aftermath = await runStorm({ seed, ms: stormMs, isRough: true });
  expectNoFaults(aftermath);
  const { completed, unknown } = aftermath.notes;
  expect(completed.length).toBeGreaterThan(stormMs / 1000);
  expect(unknown).toBeGreaterThan(0);
});

test('three gateways that are only busy act as one, and answer everybody', { timeout: 300_000 }, async () => {
  const aftermath = await runStorm({ seed, ms: stormMs / 3, isRough: false });
  expectNoFaults(aftermath);
  expect(aftermath.notes.unknown, aftermath.story).toBe(0);
});
