import { setTimeout as sleep } from 'node:timers/promises';
import type { TestGateway } from '../../harness/gateway.ts';

/**
 * The longest stall of the gateway's event loop since the last call, in milliseconds. A decision had to wait that long.
 * The gateway measures it itself, and resets it on reading.
 */
async function heldUp(gateway: TestGateway): Promise<number> {
  const text = await (await fetch(`${gateway.http}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith('nodejs_eventloop_lag_max_seconds'));
  return Number(line?.split(' ').at(-1) ?? Number.NaN) * 1000;
}

/** How long others had to wait during some work. */
export async function delayBy(gateway: TestGateway, work: () => Promise<unknown>): Promise<number> {
  await heldUp(gateway);
  await work();
  await sleep(30);
  return await heldUp(gateway);
}

const sample = JSON.stringify(Array.from({ length: 24_000 }, (_, at) => ({ id: `item-${at}`, n: at, ok: true })));

/**
 * How long this machine currently takes to parse the largest JSON body. Every call can demand that much, so it is the
 * unit for everything else.
 */
export function unitOfWork(): number {
  let best = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3; time++) {
    const start = performance.now();
    JSON.parse(sample);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
