import type { Principal } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import type { Bias } from './bias.ts';
import type { History } from './history.ts';
import type { Judge } from './judge.ts';
import { Broken } from './broken.ts';
import type { Person } from './people.ts';
import { scopesOf } from './people.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-clock.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { KnownKey, World } from './world.ts';

/** What deeds draw from, act on and are judged by. */
export interface Stage {
  readonly random: Random;
  readonly bias: Bias;
  readonly world: World;
  readonly judge: Judge;
  readonly history: History;
  readonly time: VirtualTime;
  readonly step: number;
}

/** Something that somebody does at a gateway. It draws its choices at once, and may end many steps later. */
export interface Deed {
  readonly name: string;
  readonly weight: number;
  readonly act: (sim: Stage, gateway: VirtualGateway) => Promise<unknown>;
}

/** What a caller may be told instead of an answer. Anything else is a fault. */
export function isRefusal(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.every(isRefusal) : error instanceof ReeveError;
}

/** Calls as HTTP does: nothing is answered by old knowledge. */
export async function asCaller<Result>(
  sim: Stage,
  { name, gov, authenticator }: VirtualGateway,
  key: KnownKey,
  call: (by: Principal) => Promise<Result>,
): Promise<Result> {
  const { step } = sim;
  const used = sim.history.invoke(name, { model: 'key', do: 'use', key: key.id });
  try {
    if (!(await gov.journal.catchUp())) throw new ReeveError('store_unavailable', 'the log cannot be read');
    const by = await authenticator.authenticate(`Bearer ${key.secret}`);
    const result = await call(by);
    if (key.revokedSince !== undefined && key.revokedSince < step) {
      throw new Broken(
        `the key ${key.id} was served, after its revocation was acknowledged at step ${key.revokedSince}`,
      );
    }
    used({ ok: true });
    return result;
  } catch (error) {
    used(error instanceof ReeveError && error.code === 'unauthenticated' ? { ok: false } : undefined);
    throw error;
  }
}

/** A person that has logged in at this gateway. */
export async function loggedIn(
  { access, clock }: VirtualGateway,
  { id, role, email }: Person,
  lastsMs = 60_000,
): Promise<Principal> {
  await access.callers.settled();
  const login = { accountId: id, sessionId: `ses_${id}`, role };
  return {
    actor: { id, kind: 'account', label: email },
    credentialId: id,
    login,
    scopes: scopesOf[role],
    orgId: null,
    teamId: null,
    expiresAt: clock.now() + lastsMs,
    asOf: access.callers.asOf,
  };
}
