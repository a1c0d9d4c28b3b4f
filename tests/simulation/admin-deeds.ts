import type { MadeKey, Principal } from '@reeve/core';
import { createKey, deletePolicy, putPolicy, revokeKey, rotateKey } from '@reeve/core';
import type { Deed, Stage } from './deed.ts';
import { asCaller, loggedIn } from './deed.ts';
import { people } from './people.ts';
import { storedPolicy, tools } from './policies.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { KnownKey } from './world.ts';

function makeKey(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const { orgId, teamId } = world.agent(random).id;
  const isAdmin = random.chance(0.4);
  const width = random.int(3);
  const bound = { orgId: width > 0 ? orgId : null, teamId: width > 1 ? teamId : null };
  const isByPerson = random.chance(0.4);
  const maker = random.pick(people);
  const asMaker = isByPerson
    ? async (make: (by: Principal) => Promise<MadeKey>) => await make(await loggedIn(gateway, maker))
    : (make: (by: Principal) => Promise<MadeKey>) => asCaller(sim, gateway, world.root, make);
  return asMaker((by) =>
    createKey(gateway.access, by, {
      label: 'a key',
      scopes: isAdmin ? ['admin'] : ['read', 'write'],
      ...bound,
      ttlMs: null,
    }),
  ).then((made) => keepKey(sim, made));
}

/** Somebody holds one more key. */
export function keepKey({ history, world }: Stage, { key, record }: MadeKey): KnownKey {
  const kept = { secret: key, id: record.id, revokedSince: undefined };
  history.happened({ model: 'key', do: 'create', key: record.id });
  world.keys.push(kept);
  if (world.keys.length > 12) world.keys.splice(1, 1);
  return kept;
}

function endAnyKey(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const key = random.pick(world.keys);
  if (key === world.root) return Promise.resolve();
  const rotates = random.chance(0.3);
  return endKey(sim, gateway, key, world.key(random), rotates ? rotateKey : revokeKey);
}

/** Somebody ends a key, by this one. */
export function endKey(
  sim: Stage,
  gateway: VirtualGateway,
  key: KnownKey,
  by: KnownKey,
  end: typeof revokeKey | typeof rotateKey = revokeKey,
): Promise<unknown> {
  const revoked = sim.history.invoke(gateway.name, { model: 'key', do: 'revoke', key: key.id });
  return asCaller<unknown>(sim, gateway, by, (as) => end(gateway.access, as, key.id)).then(
    () => {
      key.revokedSince ??= sim.step;
      revoked({ ok: true });
    },
    (error: unknown) => {
      revoked(undefined);
      throw error;
    },
  );
}

function changeAnyPolicy(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  return changePolicy(sim, gateway, drawPolicy(sim), world.key(random));
}

export function drawPolicy({ random, world }: Stage): string {
  const { orgId } = world.agent(random).id;
  return random.chance(0.7) ? `${orgId}/rules` : 'rules';
}

export function changePolicy(sim: Stage, gateway: VirtualGateway, name: string, key: KnownKey): Promise<unknown> {
  const { random } = sim;
  const denied = tools.filter(() => random.chance(0.2));
  const isDeleted = denied.length === 0;
  return asCaller(sim, gateway, key, async (by) => {
    if (isDeleted) await deletePolicy(gateway.gov, by, name);
    else await putPolicy(gateway.gov, by, { name, source: storedPolicy(name, denied), note: '' });
  });
}

/** Whoever holds a key that has just ended tries it once more. */
function read(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const ended = world.keys.findLast(({ revokedSince }) => revokedSince !== undefined);
  const key = random.chance(0.5) ? world.key(random) : (ended ?? world.root);
  return asCaller(sim, gateway, key, () => Promise.resolve());
}

/** What people do about keys and policies. */
export const adminDeeds: readonly Deed[] = [
  { name: 'make a key', weight: 1, act: makeKey },
  { name: 'end a key', weight: 0.8, act: endAnyKey },
  { name: 'read', weight: 2, act: read },
  { name: 'change a policy', weight: 0.3, act: changeAnyPolicy },
];
