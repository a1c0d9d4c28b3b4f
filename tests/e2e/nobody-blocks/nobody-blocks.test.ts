import { paths } from '@reeve/contract';
import type { Route, RouteName } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { delayBy, unitOfWork } from './loop-delay.ts';
import type { World } from './world.ts';
import { makeWorld } from './world.ts';
import type { Call } from './worst-calls.ts';
import { worstCalls } from './worst-calls.ts';
import { worstRpcs } from './worst-rpcs.ts';

/*
 * Whatever anybody asks for, decisions of others do not wait for it noticeably. Each route and each RPC is asked for the
 * worst that it takes, one call after the other, and the gateway tells how long its event loop was held up at most.
 * That is measured by what this machine takes to read one large body, in the same moment, and tried again where the
 * machine was busy with something else.
 */

/** So many times as long as reading one large body takes, others may have to wait. */
const mostUnits = 15;
const mostTries = 4;

let world: World;
beforeAll(async () => {
  world = await makeWorld();
}, 240_000);
afterAll(() => world.gateway[Symbol.asyncDispose]());

/** The least delay of some tries, in units of work. */
async function worstDelay(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < mostTries && least > mostUnits; time++) {
    const before = unitOfWork();
    const delay = await delayBy(world.gateway, work);
    least = Math.min(least, delay / Math.max(before, unitOfWork()));
  }
  if (process.env['SHOW'] !== undefined) console.log('UNITS', least.toFixed(1), expect.getState().currentTestName);
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

test('every route and every RPC has its worst input', () => {
  expect(Object.keys(worstCalls).toSorted()).toEqual(Object.keys(routes).toSorted());
  expect(Object.keys(worstRpcs).toSorted()).toEqual(Object.keys(paths).toSorted());
});

describe('no decision waits for the worst of', { timeout: 180_000 }, () => {
  test.each(Object.keys(worstCalls) as RouteName[])('%s', async (name) => {
    const route: Route = routes[name];
    const calls = worstCalls[name](world).filter(({ body }) => body === undefined || route.method !== 'GET');
    for (const call of calls) {
      let status = 0;
      const delay = await worstDelay(async () => {
        status = await send(route, call);
      });
      const what = `${route.method} ${call.path.slice(0, 80)} with ${(call.body ?? '').slice(0, 100)}`;
      expect(delay, what).toBeLessThan(mostUnits);
      expect(status, what).not.toBe(500);
    }
  });

  test.each(Object.keys(worstRpcs) as (keyof typeof worstRpcs)[])('%s', async (name) => {
    expect(await worstDelay(() => worstRpcs[name](world))).toBeLessThan(mostUnits);
  });
});
