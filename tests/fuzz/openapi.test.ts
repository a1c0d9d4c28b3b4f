import { accountPaths } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tally } from './fuzz.ts';
import { fuzz } from './fuzz.ts';
import { mostGrowth, residentBytes } from './memory.ts';
import { send } from './wire.ts';
import type { World } from './world.ts';
import { makeWorld } from './world.ts';

const seed = 20_260_101;

let world: World;
beforeAll(async () => {
  world = await makeWorld(60);
});
afterAll(() => world.gateway[Symbol.asyncDispose]());

test(`valid and mutated requests to every operation, seed ${seed}`, async () => {
  const before = await residentBytes(world.gateway.http);
  const tally: Tally = new Map();
  await fuzz(world, tally, { seed, valid: 12, mutated: 18 });

  const names = world.document.operations.map(({ method, path }) => `${method} ${path}`);
  expect([...tally.keys()]).toEqual(names);
  const neverAccepted = [...tally].filter(([, statuses]) => [...statuses.keys()].every((status) => status >= 300));
  expect(neverAccepted).toEqual([]);

  expect((await world.gateway.api.get<{ status: string }>('/healthz')).body.status).toBe('ok');
  expect(await world.gateway.check(world.sentinel)).toMatchObject({ decision: 1 });
  expect((await residentBytes(world.gateway.http)) - before).toBeLessThan(mostGrowth);
  expect(world.gateway.output().stderr).not.toContain('unexpectedly');
});

test.each(accountPaths)('without an account store $method $path is 503, whatever is sent', async ({ method, path }) => {
  for (const body of [undefined, Buffer.from('{}'), Buffer.from('{'), Buffer.from('{"email":1}')]) {
    const headers = body === undefined ? [] : [['content-type', 'application/json'] as const];
    const answer = await send(world.gateway.http, { method, target: path, headers, body });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ status: 503, code: 'accounts_unavailable' });
  }
});
