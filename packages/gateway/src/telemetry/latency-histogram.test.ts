import * as fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { LatencyHistogram } from './latency-histogram.ts';

const bounds = [0.001, 0.01, 0.1, 1];

async function textOf(observed: readonly number[]): Promise<string> {
  const registry = new Registry();
  const histogram = new LatencyHistogram('waiting_seconds', 'How long.', bounds);
  histogram.register(registry);
  for (const seconds of observed) histogram.observe(seconds);
  return registry.metrics();
}

/** The output of the library's own histogram, which is slower. */
async function textByLibrary(observed: readonly number[]): Promise<string> {
  const registry = new Registry();
  const histogram = new Histogram({
    name: 'waiting_seconds',
    help: 'How long.',
    buckets: bounds,
    registers: [registry],
  });
  for (const seconds of observed) histogram.observe(seconds);
  return registry.metrics();
}

describe('a latency histogram', () => {
  test('reads like one of the metrics registry, whatever was observed', async () => {
    const seconds = fc.oneof(
      fc.double({ min: 0, max: 5, noNaN: true }),
      fc.constantFrom(0, ...bounds, 0.0011, 1.000_001, 100),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(seconds, { minLength: 1, maxLength: 50 }), async (observed) => {
        const lines = (text: string) => text.trim().split('\n').toSorted();
        expect(lines(await textOf(observed))).toEqual(lines(await textByLibrary(observed)));
      }),
    );
  });

  test('counts what lies on a bound below it', async () => {
    const text = await textOf([0.01]);
    expect(text).toContain('waiting_seconds_bucket{le="0.001"} 0\n');
    expect(text).toContain('waiting_seconds_bucket{le="0.01"} 1\n');
    expect(text).toContain('waiting_seconds_bucket{le="+Inf"} 1\n');
  });

  test('is there before anything was observed', async () => {
    const text = await textOf([]);
    expect(text).toContain('# TYPE waiting_seconds histogram');
    expect(text).toContain('waiting_seconds_count 0');
  });
});
