import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tally } from './fuzz.ts';
import { fuzz } from './fuzz.ts';
import { mostGrowth, residentBytes } from './memory.ts';
import type { World } from './world.ts';
import { liftSuspensions, makeWorld } from './world.ts';

const seed = 20_260_101;

let world: World;
beforeAll(async () => {
  world = await makeWorld(60);
});
afterAll(() => world.gateway[Symbol.asyncDispose]());

test(`valid and mutated requests to every operation, seed ${seed}`, async () => {
  const before = await residentBytes(world.gateway.http);
  const tally: Tally = new Map();
  await fuzz(world, tally, { seed, valid: 40, mutated: 18 });

  const names = world.document.operations.map(({ method, path }) => `${method} ${path}`);
  expect([...tally.keys()]).toEqual(names);
  // A WebSocket route answers 426 to permitted callers that do not ask for an upgrade.
  const isAccepted = (status: number) => status < 300 || status === 426;
  // These need a session cookie, a token from an email or a chat, a provider of single sign-on, or a person.
  const unreachable = ['POST /api/v1/auth/refresh', 'POST /api/v1/auth/password/reset/confirm'];
  unreachable.push('GET /api/v1/approval-link', 'POST /api/v1/approval-link', 'POST /api/v1/auth/cli/session');
  unreachable.push('GET /api/v1/auth/oidc/start', 'GET /api/v1/auth/oidc/callback');
  const people = world.document.operations.filter(({ tenancy }) => tenancy === 'person');
  unreachable.push(...people.map(({ method, path }) => `${method} ${path}`));
  const neverAccepted = [...tally].filter(
    ([name, statuses]) => !unreachable.includes(name) && ![...statuses.keys()].some(isAccepted),
  );
  expect(neverAccepted).toEqual([]);

  expect((await world.gateway.api.get<{ status: string }>('/healthz')).body.status).toBe('ok');
  await liftSuspensions(world);
  expect(await world.gateway.check(world.sentinel)).toMatchObject({ decision: 1 });
  expect((await residentBytes(world.gateway.http)) - before).toBeLessThan(mostGrowth);
  expect(world.gateway.output().stderr).not.toContain('unexpectedly');
}, 300_000);
