import { setTimeout as sleep } from 'node:timers/promises';
import type { TestGateway } from '../../harness/gateway.ts';

/**
 * How long the gateway's event loop was held up at most since it was last asked, in milliseconds: as long as that, a
 * decision had to wait. The gateway measures it itself, and forgets it when it is read.
 */
async function heldUp(gateway: TestGateway): Promise<number> {
  const text = await (await fetch(`${gateway.http}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith('nodejs_eventloop_lag_max_seconds'));
  return Number(line?.split(' ').at(-1) ?? Number.NaN) * 1000;
}

/** How long others had to wait while something was done. */
export async function delayBy(gateway: TestGateway, work: () => Promise<unknown>): Promise<number> {
  await heldUp(gateway);
  await work();
  await sleep(30);
  return await heldUp(gateway);
}

const sample = JSON.stringify(Array.from({ length: 24_000 }, (_, at) => ({ id: `item-${at}`, n: at, ok: true })));

/**
 * How long this machine takes at present to read a body of JSON as large as one may be. Every call can ask for that
 * much: it is what all else is measured by.
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
