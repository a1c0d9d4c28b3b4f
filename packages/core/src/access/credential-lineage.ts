import type { ApiKeyRecord, Maker } from './api-key.ts';
import type { Principal } from './principal.ts';

type Descent = Pick<ApiKeyRecord, 'id' | 'orgId' | 'madeBy' | 'rotatedFrom'>;

/** All keys, present and past. Revoked keys are included because others descend from them. */
export interface Descents {
  find(id: string): Descent | undefined;
}

/** The credential that a caller makes something with. */
export function makerOf({ credentialId, login }: Pick<Principal, 'credentialId' | 'login'>): Maker {
  return login === undefined ? { kind: 'api_key', id: credentialId } : { kind: 'account', id: login.accountId };
}

/**
 * Whether a credential is the root or descends from it, in any number of steps. A step is a rotation, a key made with
 * the credential, or a key made by the account. A token counts as the key that it was exchanged for. A key made with an
 * unbound key starts its own lineage: an operator's key makes the keys of every tenant, and needs no other key to act.
 */
export function isOfLineage(keys: Descents, credentialId: string, rootCredentialId: string): boolean {
  return isOfLineageOfAny(keys, credentialId, [rootCredentialId]);
}

/** The same for several roots. */
export function isOfLineageOfAny(keys: Descents, credentialId: string, roots: readonly string[]): boolean {
  if (roots.length === 0) return false;
  const kin = ancestryOf(
    keys,
    credentialId,
    (maker) => maker.kind === 'account' || keys.find(maker.id)?.orgId !== null,
  );
  const accounts = accountsBehind(keys, credentialId);
  return roots.some((root) => kin.has(root) || accounts.includes(root));
}

/**
 * The registering credentials after another credential registers the same thing again. A descendant of a root changes
 * nothing. An ancestor of a root replaces it. So no lineage is lost.
 */
export function rootsWith(keys: Descents, roots: readonly string[], credentialId: string): readonly string[] {
  if (isOfLineageOfAny(keys, credentialId, roots)) return roots;
  return [...roots.filter((root) => !isOfLineage(keys, root, credentialId)), credentialId];
}

/** Every account behind a key: those that made or rotated it, or a key that it descends from. */
export function accountsBehind(
  keys: Descents,
  keyId: string,
  remembered: (keyId: string) => readonly string[] | undefined = () => undefined,
): readonly string[] {
  const accounts = new Set<string>();
  const above = new Set([keyId]);
  for (const id of above) {
    const known = id === keyId ? undefined : remembered(id);
    for (const account of known ?? []) accounts.add(account);
    const key = known === undefined ? keys.find(id) : undefined;
    if (key === undefined) continue;
    if (key.rotatedFrom !== null) above.add(key.rotatedFrom);
    if (key.madeBy?.kind === 'account') accounts.add(key.madeBy.id);
    else if (key.madeBy !== null) above.add(key.madeBy.id);
  }
  return [...accounts];
}

/**
 * The account at the origin of a key. Rotations do not change it. Null if no account made the key or the keys it was
 * made with.
 */
export function accountBehind(keys: Descents, keyId: string): string | null {
  const seen = new Set<string>();
  let key = originOf(keys, keyId);
  while (key?.madeBy?.kind === 'api_key' && !seen.has(key.id)) {
    seen.add(key.id);
    key = originOf(keys, key.madeBy.id);
  }
  return key?.madeBy?.kind === 'account' ? key.madeBy.id : null;
}

/**
 * The person that a verdict counts for. An account counts as itself, and so does every key that goes back to it. Any
 * other key counts as the bound key that it was made with, or as itself if it was made with an unbound key. Rotations
 * change nothing.
 */
export function personBehind(keys: Descents, { credentialId }: Pick<Principal, 'credentialId'>): string {
  const seen = new Set<string>();
  let person = credentialId;
  while (!seen.has(person)) {
    seen.add(person);
    const key = originOf(keys, person);
    if (key === undefined) return person;
    const account = accountBehind(keys, person);
    if (account !== null) return account;
    // An unknown key may be bound or not. Two keys made with it count as one person.
    if (key.madeBy === null || keys.find(key.madeBy.id)?.orgId === null) return key.id;
    person = key.madeBy.id;
  }
  return person;
}

/**
 * Everybody who may hold a credential: the person that it counts as, and every account and bound key that rotated it or
 * its ancestors. The caller that rotates a key sees the new one. Two verdicts come from two people only if these lists
 * share nobody.
 */
export function peopleBehind(keys: Descents, { credentialId }: Pick<Principal, 'credentialId'>): readonly string[] {
  const isBound = (maker: Maker) => maker.kind === 'api_key' && keys.find(maker.id)?.orgId !== null;
  const holders = [...ancestryOf(keys, credentialId, isBound)].map((id) => personBehind(keys, { credentialId: id }));
  return [...new Set([...holders, ...accountsBehind(keys, credentialId)])];
}

interface KeysInForce {
  all(): readonly Pick<ApiKeyRecord, 'id' | 'rotatedFrom'>[];
  isInForce(id: string): boolean;
}

/** The key, or a key that it was rotated to, that is in force. Undefined if none is. */
export function keyInForceSince(keys: KeysInForce, keyId: string): string | undefined {
  const line = new Set([keyId]);
  const rotated = Map.groupBy(keys.all(), ({ rotatedFrom }) => rotatedFrom);
  // A loop over a set also visits what is added during the loop.
  for (const id of line) for (const key of rotated.get(id) ?? []) line.add(key.id);
  return [...line].find((id) => keys.isInForce(id));
}

/** The keys that a key was rotated from or made with, whether or not they are known. */
export function keysAbove({ rotatedFrom, madeBy }: Pick<Descent, 'madeBy' | 'rotatedFrom'>): readonly string[] {
  const maker = madeBy?.kind === 'api_key' ? [madeBy.id] : [];
  return rotatedFrom === null ? maker : [rotatedFrom, ...maker];
}

/** The keys that come from one that is not among them. Each key is looked at once, however long the chains are. */
export function orphansIn(keys: readonly Pick<Descent, 'id' | 'madeBy' | 'rotatedFrom'>[]): readonly string[] {
  const below = Map.groupBy(
    keys.flatMap((key) => keysAbove(key).map((above) => ({ above, id: key.id }))),
    ({ above }) => above,
  );
  const known = new Set(keys.map(({ id }) => id));
  const line = new Set([...below.keys()].filter((id) => !known.has(id)));
  // A loop over a set also visits what is added during the loop.
  for (const above of line) for (const { id } of below.get(above) ?? []) line.add(id);
  return [...line].filter((id) => known.has(id));
}

/** The first key of a chain of rotations. */
function originOf(keys: Descents, keyId: string): Descent | undefined {
  const seen = new Set<string>();
  let key = keys.find(keyId);
  while (key !== undefined && key.rotatedFrom !== null && !seen.has(key.id)) {
    seen.add(key.id);
    key = keys.find(key.rotatedFrom) ?? { ...key, id: key.rotatedFrom, rotatedFrom: null };
  }
  return key;
}

/** A credential and all its ancestors, through rotations and the makers that count. */
function ancestryOf(
  keys: Descents,
  credentialId: string,
  counts: (maker: Maker) => boolean = () => true,
): ReadonlySet<string> {
  const ancestry = new Set([credentialId]);
  // A loop over a set also visits what is added during the loop.
  for (const id of ancestry) {
    const key = keys.find(id);
    if (key === undefined) continue;
    if (key.rotatedFrom !== null) ancestry.add(key.rotatedFrom);
    if (key.madeBy !== null && counts(key.madeBy)) ancestry.add(key.madeBy.id);
  }
  return ancestry;
}
