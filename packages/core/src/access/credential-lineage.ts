import type { ApiKeyRecord, Maker } from './api-key.ts';
import type { Principal } from './principal.ts';

type Descent = Pick<ApiKeyRecord, 'id' | 'orgId' | 'madeBy' | 'rotatedFrom'>;

/** The keys that there are or were; revoked ones are among them, as others come from them. */
export interface Descents {
  find(id: string): Descent | undefined;
}

/** The credential that a caller makes something with. */
export function makerOf({ credentialId, login }: Pick<Principal, 'credentialId' | 'login'>): Maker {
  return login === undefined ? { kind: 'api_key', id: credentialId } : { kind: 'account', id: login.accountId };
}

/**
 * Whether a credential is the root or comes from it: by rotations, by keys made with it or, where it is an account, by
 * that account, and so on. A token counts as the key that it was exchanged for. A key that was made with an unbound
 * key stands for itself: an operator's key makes those of every tenant, and needs no other one to do as it likes.
 */
export function isOfLineage(keys: Descents, credentialId: string, rootCredentialId: string): boolean {
  return isOfLineageOfAny(keys, credentialId, [rootCredentialId]);
}

/** The same of several roots. */
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
 * The credentials that something was registered with, when another one registers it again. One that comes from a root
 * changes nothing, and one that a root comes from stands in its place, so no lineage is forgotten.
 */
export function rootsWith(keys: Descents, roots: readonly string[], credentialId: string): readonly string[] {
  if (isOfLineageOfAny(keys, credentialId, roots)) return roots;
  return [...roots.filter((root) => !isOfLineage(keys, root, credentialId)), credentialId];
}

/** Every account that a key comes from, by whichever way: that made it, rotated it, or made what it was made with. */
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

/** The account that a key goes back to, whoever rotated it since; null where none made it or what it was made with. */
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
 * Whom a verdict counts as. An account counts as itself, and so does every key that goes back to it. Of other keys, one
 * made with a bound key counts as that key, one made with an unbound key stands for itself, and rotations change nothing.
 */
export function personBehind(keys: Descents, { credentialId }: Pick<Principal, 'credentialId'>): string {
  const seen = new Set<string>();
  let person = credentialId;
  while (!seen.has(person)) {
    seen.add(person);
    const key = originOf(keys, person);
    if (key === undefined) return person;
    const account = accountBehind(keys, key.id);
    if (account !== null) return account;
    // Whether a key that is not known is bound cannot be told: two keys made with it then count as one person.
    if (key.madeBy === null || keys.find(key.madeBy.id)?.orgId === null) return key.id;
    person = key.madeBy.id;
  }
  return person;
}

/**
 * Everybody who may hold a credential: whom it counts as, and every account and bound key that rotated it or what it was
 * made with, as whoever rotates a key is shown the new one. Two verdicts come from two people only where these have
 * nobody in common.
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

/** Whether a key is in force, or another one that it was rotated to. */
export function isInForceSince(keys: KeysInForce, keyId: string): boolean {
  const line = new Set([keyId]);
  const all = keys.all();
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const id of line) for (const key of all) if (key.rotatedFrom === id) line.add(key.id);
  return [...line].some((id) => keys.isInForce(id));
}

/** The key that others were made in place of, first of all. */
function originOf(keys: Descents, keyId: string): Descent | undefined {
  const seen = new Set<string>();
  let key = keys.find(keyId);
  while (key !== undefined && key.rotatedFrom !== null && !seen.has(key.id)) {
    seen.add(key.id);
    key = keys.find(key.rotatedFrom) ?? { ...key, id: key.rotatedFrom, rotatedFrom: null };
  }
  return key;
}

/** A credential and everything that it comes from, by the makers that count. */
function ancestryOf(
  keys: Descents,
  credentialId: string,
  counts: (maker: Maker) => boolean = () => true,
): ReadonlySet<string> {
  const ancestry = new Set([credentialId]);
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const id of ancestry) {
    const key = keys.find(id);
    if (key === undefined) continue;
    if (key.rotatedFrom !== null) ancestry.add(key.rotatedFrom);
    if (key.madeBy !== null && counts(key.madeBy)) ancestry.add(key.madeBy.id);
  }
  return ancestry;
}
