import { paths } from '@reeve/contract';
import type { Route, RouteName } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { delayBy, unitOfWork } from './loop-delay.ts';
import type { World } from './world.ts';
import { makeWorld } from './world.ts';
import type { Call } from './call-shapes.ts';
import { worstCalls } from './worst-calls.ts';
import { worstRpcs } from './worst-rpcs.ts';

/* No call of anybody noticeably delays the decisions of others. The test sends each route and each RPC its worst
   input, one call after the other, and the gateway reports the longest stall of its event loop. The unit is the
   time that this machine takes to read one large body at that moment. The test retries if the machine was busy
   with something else. */

/** Others may have to wait this many times as long as reading one large body takes. */
const mostUnits = 20;
const mostTries = 5;

let world: World;
beforeAll(async () => {
  world = await makeWorld();
}, 240_000);
afterAll(() => world.close());

/** How long others had to wait, in units of work. */
async function delayInUnits(work: () => Promise<unknown>): Promise<number> {
  const before = unitOfWork();
  const delay = await delayBy(world.gateway, work);
  return delay / Math.max(before, unitOfWork());
}

/** The least delay of several attempts. */
async function leastDelay(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < mostTries && least > mostUnits; time++) least = Math.min(least, await delayInUnits(work));
  return least;
}

async function send(route: Route, { path, bearer, body, isStream }: Call): Promise<number> {
  const abort = new AbortController();
  const response = await fetch(`${world.gateway.http}${path}`, {
    method: route.method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: abort.signal,
  });
  if (isStream === true) await response.body?.getReader().read();
  else await response.arrayBuffer();
  if (isStream === true) abort.abort();
  return response.status;
}

function described({ method }: Route, { path, body = '' }: Call): string {
  return `${method} ${path.slice(0, 80)} with ${body.slice(0, 100)}`;
}

test('every route and every RPC has its worst input', () => {
  expect(Object.keys(worstCalls).toSorted()).toEqual(Object.keys(routes).toSorted());
  expect(Object.keys(worstRpcs).toSorted()).toEqual(Object.keys(paths).toSorted());
});

describe('no decision waits for the worst of', { timeout: 180_000 }, () => {
  test.each(Object.keys(worstCalls) as RouteName[])('%s', async (name) => {
    const route: Route = routes[name];
    const calls = worstCalls[name](world).filter(({ body }) => body === undefined || route.method !== 'GET');
    const together = await delayInUnits(async () => {
      for (const call of calls) expect(await send(route, call), described(route, call)).not.toBe(500);
    });
    if (together < mostUnits) return;
    // Either the machine was busy, or one of the calls is to blame.
    for (const call of calls) {
      expect(await leastDelay(() => send(route, call)), described(route, call)).toBeLessThan(mostUnits);
    }
  });

  test.each(Object.keys(worstRpcs) as (keyof typeof worstRpcs)[])('%s', async (name) => {
    expect(await leastDelay(() => worstRpcs[name](world))).toBeLessThan(mostUnits);
  });
});
