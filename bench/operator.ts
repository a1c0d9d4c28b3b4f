import { bootstrapKey } from './load-protocol.ts';
import { pause } from './process-usage.ts';
import { sum } from './statistics.ts';

export interface ControlOrder {
  readonly action: 'pause' | 'resume' | 'terminate';
  readonly scope: { readonly all: true } | { readonly org_id: string };
  readonly reason: string;
}

const metricWithinMs = 60_000;

/** Controls everything in a scope; returns how many operations changed and how long the answer took. */
export async function orderControl(
  http: string,
  order: ControlOrder,
): Promise<{ readonly changed: number; readonly micros: number }> {
  const startedAt = performance.now();
  const response = await fetch(`${http}/api/v1/control`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bootstrapKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  const micros = (performance.now() - startedAt) * 1000;
  const text = await response.text();
  if (response.status !== 202) throw new Error(`the control was answered with ${response.status}: ${text}`);
  return { changed: (JSON.parse(text) as { changed: number }).changed, micros };
}

/** Waits until a metric, or the sum over its labels, has the wanted value. */
export async function untilMetric(http: string, name: string, wanted: number): Promise<void> {
  const deadline = performance.now() + metricWithinMs;
  for (;;) {
    const value = await metricOf(http, name);
    if (value === wanted) return;
    if (performance.now() > deadline) throw new Error(`${name} is ${value}, not ${wanted}`);
    await pause(0.1);
  }
}

async function metricOf(http: string, name: string): Promise<number> {
  const text = await (await fetch(`${http}/metrics`)).text();
  const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return sum([...values].map(([, value]) => Number(value)));
}
