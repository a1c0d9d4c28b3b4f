import type { Access } from './access.ts';
import type { ApiKeyRecord, NewKey } from './api-key.ts';
import { makeApiKey, newKeyRecord } from './api-key.ts';
import { makerOf } from './credential-lineage.ts';
import type { Principal, Scope } from './principal.ts';
import { requireScope, requireUnbound, scopes } from './principal.ts';
import type { SigningKeyRecord } from './signing-key.ts';
import type { Json, AuditEventType } from '../audit/index.ts';
import { canonicalJson, draftOf, system, lineageOfBinding, redactText } from '../audit/index.ts';
import type { Warrant } from '../journal/index.ts';
import { ownWork } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { invalid, ReeveError } from '../kernel/index.ts';

export interface KeyGrant {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly ttlMs: number | null;
}

/** A key that was just made. Its maker sees it once, and nobody sees it again. */
export interface MadeKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** The keys that a caller manages: those with its own binding. An unbound caller manages all keys. */
export function listKeys(access: Access, by: Principal): ApiKeyRecord[] {
  requireScope(by, 'admin');
  return access.keys
    .all()
    .filter((key) => manages(by, key))
    .reverse();
}

export async function createKey(access: Access, by: Principal, grant: KeyGrant): Promise<MadeKey> {
  requireScope(by, 'admin');
  const orgId = grant.orgId ?? by.orgId;
  const teamId = grant.teamId ?? by.teamId;
  if (teamId !== null && orgId === null) throw invalid('team_id', 'a key bound to a team needs the org_id, too');
  if (!manages(by, { orgId, teamId })) {
    throw new ReeveError('tenant_bound', 'a credential that is bound to a tenant makes keys with its own binding only');
  }
  return await access.journal.turn(access.callers.warrantOf(by), () => {
    const now = access.clock.now();
    const made = make(access, now, {
      label: redactText(grant.label),
      scopes: scopes.filter((scope) => grant.scopes.includes(scope)),
      orgId,
      teamId,
      expiresAt: noLaterThan(access, by, grant.ttlMs === null ? null : now + grant.ttlMs),
      madeBy: makerOf(by),
      rotatedFrom: null,
    });
    note(access, by, 'ApiKeyCreated', made.record, {});
    return made;
  });
}

/**
 * Makes a key with the same grant and time to live under a new id, and revokes the old key. The new key ends no later
 * than the key that the caller used.
 */
export async function rotateKey(access: Access, by: Principal, id: string): Promise<MadeKey> {
  return await access.journal.turn(access.callers.warrantOf(by), () => {
    const old = managedKey(access, by, id);
    if (old.revokedAt !== null) throw new ReeveError('key_revoked', 'the key is revoked; make a new one instead');
    const now = access.clock.now();
    const made = make(access, now, {
      ...old,
      expiresAt: noLaterThan(access, by, old.expiresAt === null ? null : now + (old.expiresAt - old.createdAt)),
      madeBy: makerOf(by),
      rotatedFrom: old.id,
    });
    revoke(access, old);
    note(access, by, 'ApiKeyCreated', made.record, { rotated_from: old.id });
    note(access, by, 'ApiKeyRevoked', old, { rotated_to: made.record.id });
    return made;
  });
}

/** Revokes a key. The key and all tokens made from it stop at once. Revoking again changes nothing. */
export async function revokeKey(access: Access, by: Principal, id: string): Promise<ApiKeyRecord> {
  return await access.journal.turn(access.callers.warrantOf(by), () => {
    const key = managedKey(access, by, id);
    if (key.revokedAt === null) {
      revoke(access, key);
      note(access, by, 'ApiKeyRevoked', key, {});
    }
    return access.keys.find(id) ?? key;
  });
}

/** A key made with another key ends no later than that key. So no key can prolong itself. */
function noLaterThan({ keys }: Access, by: Principal, expiresAt: EpochMs | null): EpochMs | null {
  const end = by.login === undefined ? (keys.find(by.credentialId)?.expiresAt ?? null) : null;
  if (end === null || expiresAt === null) return expiresAt ?? end;
  return Math.min(expiresAt, end);
}

function managedKey(access: Access, by: Principal, id: string): ApiKeyRecord {
  requireScope(by, 'admin');
  const key = access.keys.find(id);
  if (key !== undefined && manages(by, key)) return key;
  throw new ReeveError('key_not_found', `there is no API key "${redactText(id)}"`);
}

function manages(by: Principal, key: Pick<ApiKeyRecord, 'orgId' | 'teamId'>): boolean {
  return by.orgId === null || (by.orgId === key.orgId && by.teamId === key.teamId);
}

function make(access: Access, now: EpochMs, made: NewKey): MadeKey {
  const { label, scopes: granted, orgId, teamId, expiresAt, madeBy, rotatedFrom } = made;
  const key = makeApiKey(access.randomness);
  const grant = { label, scopes: granted, orgId, teamId, expiresAt, madeBy, rotatedFrom };
  const record = newKeyRecord(key, access.sha256, now, grant);
  access.journal.apply({ kind: 'api_key_saved', key: record });
  return { key, record };
}

function revoke({ clock, journal }: Access, key: ApiKeyRecord): void {
  journal.apply({ kind: 'api_key_saved', key: { ...key, revokedAt: clock.now() } });
}

function note(
  access: Access,
  by: Principal,
  eventType: AuditEventType,
  key: ApiKeyRecord,
  details: { readonly [member: string]: Json },
): void {
  const request = by.requestId === undefined ? {} : { request_id: by.requestId };
  access.journal.record(
    draftOf({
      at: access.clock.now(),
      eventType,
      actor: by.actor,
      lineage: lineageOfBinding(key),
      payload: canonicalJson({ ...details, ...request, key_id: key.id, label: key.label, scopes: [...key.scopes] }),
    }),
  );
}

type Installing = Pick<Access, 'keys' | 'journal' | 'clock' | 'randomness' | 'sha256'>;

/**
 * Ensures that somebody has access. It installs the bootstrap key if one is given and not known yet, or makes an admin
 * key if there is no key at all. It returns the key that it made, which nobody sees again.
 */
export async function installFirstKey(
  access: Installing,
  bootstrapKey: string | undefined,
): Promise<string | undefined> {
  if (bootstrapKey === undefined) {
    if (access.keys.size > 0) return undefined;
    const made = makeApiKey(access.randomness);
    await install(access, made, 'admin', null);
    return made;
  }
  await install(access, bootstrapKey, 'bootstrap', null);
  return undefined;
}

/**
 * Makes one more admin key, whatever keys there are. It is for the machine of the gateway alone, so it asks nobody.
 */
export async function replaceLostKey(access: Installing): Promise<MadeKey> {
  const key = makeApiKey(access.randomness);
  return { key, record: await install(access, key, 'admin', 'reeve keys bootstrap') };
}

async function install(
  { keys, journal, clock, sha256 }: Installing,
  key: string,
  label: string,
  reason: string | null,
): Promise<ApiKeyRecord> {
  const record = newKeyRecord(key, sha256, clock.now(), {
    label,
    scopes: ['read', 'write', 'admin'],
    orgId: null,
    teamId: null,
    expiresAt: null,
    madeBy: null,
    rotatedFrom: null,
  });
  const known = keys.find(record.id);
  if (known?.hash === record.hash) return known;
  return await journal.turn(ownWork, () => {
    journal.apply({ kind: 'api_key_saved', key: record });
    journal.record(
      draftOf({
        at: clock.now(),
        eventType: 'ApiKeyCreated',
        actor: system,
        reason,
        payload: canonicalJson({ key_id: record.id, label: record.label, scopes: [...record.scopes] }),
      }),
    );
    return record;
  });
}

/**
 * Signs with a new key from now on. Earlier keys still verify, so nobody is logged out. An earlier key loses its
 * private half once no valid token carries its signature.
 */
export async function rotateSigningKey(access: Access, by: Principal): Promise<SigningKeyRecord> {
  requireScope(by, 'admin');
  requireUnbound(by);
  return await signWithNewKey(access, access.callers.warrantOf(by), by);
}

/** Makes the first key that signs. */
export async function makeSigningKey(access: Access): Promise<SigningKeyRecord> {
  return await signWithNewKey(access, ownWork, { actor: system });
}

async function signWithNewKey(
  access: Access,
  warrant: Warrant,
  { actor, requestId }: Pick<Principal, 'actor' | 'requestId'>,
): Promise<SigningKeyRecord> {
  const { clock, journal, signingKeys } = access;
  const made = await access.mint.makeKey(clock.now());
  return await journal.turn(warrant, () => {
    const key = signWith(access, made, signingKeys.outlived(clock.now(), access.tokenTtlMs));
    const request = requestId === undefined ? {} : { request_id: requestId };
    const payload = canonicalJson({ ...request, kid: key.kid });
    journal.record(draftOf({ at: clock.now(), eventType: 'SigningKeyRotated', actor, payload }));
    return key;
  });
}

/**
 * Signs with a new key, and accepts no token of an earlier one. Nothing is recorded: the caller says why, in the same
 * turn.
 */
export function replaceSigningKeys(access: Access, key: SigningKeyRecord): void {
  signWith(
    access,
    key,
    access.signingKeys.all().filter(({ privateJwk }) => privateJwk !== ''),
  );
}

function signWith(
  { journal, signingKeys }: Access,
  made: SigningKeyRecord,
  retiring: readonly SigningKeyRecord[],
): SigningKeyRecord {
  for (const old of retiring) {
    // The public half stays: it verifies the cuts of the audit log that the key has signed, for good.
    journal.apply({ kind: 'signing_key_saved', key: { ...old, privateJwk: '' } });
  }
  // The newest key signs, so this one is the newest, even if the clock of whoever made the last one was ahead.
  const newest = signingKeys.all().at(-1)?.createdAt ?? 0;
  const key = made.createdAt < newest ? { ...made, createdAt: newest + 1 } : made;
  journal.apply({ kind: 'signing_key_saved', key });
  return key;
}
