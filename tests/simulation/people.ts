import type { Issuers, Role, Scope, SubjectIssuer, TokenCheck } from '@reeve/core';
import type { Random } from './random.ts';

/** Somebody with an account. Agents act for some of them. */
export interface Person {
  readonly id: string;
  readonly role: Role;
  readonly email: string;
  /** Who the person is for the issuer of users. */
  readonly sub: string;
}

function person(name: string, role: Role): Person {
  return { id: `acc_${name}`, role, email: `${name}@people.example`, sub: `sub-${name}` };
}

export const people: readonly Person[] = [
  person('ann', 'admin'),
  person('bob', 'developer'),
  person('cleo', 'owner'),
  person('dan', 'admin'),
];

export const scopesOf: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ['read', 'write', 'admin'],
  admin: ['read', 'write', 'admin'],
  developer: ['read', 'write'],
  viewer: ['read'],
};

/** For whom agents act: two of the people, and somebody without an account. */
const users = ['ann', 'bob', 'guest'] as const;

const issuer = 'https://issuer.example';
/** How far the clock of an issuer may be off. */
const leewayMs = 60_000;

/** A token that the virtual issuer has given to a user. */
export interface SubjectToken {
  readonly text: string;
  readonly sub: string;
  /** When it ends, with all leeway. */
  readonly until: number;
}

/** Tokens of the same user for the same operation, most of the time. Some have ended, and some are of another issuer. */
export function drawSubject(random: Random, nthOp: number, now: number): SubjectToken | undefined {
  const user = users[nthOp % 7];
  if (user === undefined) return undefined;
  const shown = random.chance(0.03) ? random.pick(users) : user;
  const exp = now + random.pick([-75_000, -50_000, 2000, 600_000, 600_000, 600_000, 600_000, 600_000]);
  const isForeign = random.chance(0.03);
  const sub = `sub-${shown}`;
  return {
    text: `${isForeign ? 'foreign' : 'token'} ${shown} ${exp}`,
    sub,
    until: isForeign ? -Infinity : exp + leewayMs,
  };
}

/** The issuer of users, as one gateway knows it. It takes a moment to verify a token that is new. */
export function virtualIssuer(): Issuers<SubjectIssuer> {
  const known = new Map<string, TokenCheck>();
  const verify = (token: string) => {
    const found = known.get(token);
    if (found !== undefined) return found;
    if (known.size > 1000) known.clear();
    const check = checkOf(token);
    known.set(token, check);
    return Promise.resolve(check);
  };
  const settings = { issuer, audiences: ['reeve'], claims: { email: 'email', groups: 'groups' } };
  return { trusted: [{ settings, verifier: { verify } }] };
}

function checkOf(token: string): TokenCheck {
  const [kind, name = '', exp] = token.split(' ');
  if (kind !== 'token') return { ok: false, why: 'is of another issuer' };
  const email = name === 'guest' ? {} : { email: `${name}@people.example` };
  return { ok: true, claims: { sub: `sub-${name}`, ...email }, expiresAt: Number(exp) };
}

/** Accounts as a store finds them. */
export function findAccounts(ids: readonly string[]) {
  const found = people.filter(({ id }) => ids.includes(id));
  return Promise.resolve(
    found.map(({ id, role, email, sub }) => ({ id, role, email, identities: [{ issuer, subject: sub }] })),
  );
}

/** What the accounts behind a key may do. */
export function findRoles(ids: readonly string[]) {
  return Promise.resolve(
    people.filter(({ id }) => ids.includes(id)).map(({ role }) => ({ role, orgId: null, teamId: null })),
  );
}
