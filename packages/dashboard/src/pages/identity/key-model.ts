import type { Scope } from '@reeve/contract/names';
import type { Answer } from '../../api/send.ts';

export type ApiKey = Answer<'listApiKeys'>['items'][number];
export type KeyState = 'active' | 'expired' | 'revoked';

export function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active';
}

/** A higher scope includes the lower ones, so there are three grants and not seven. */
export const grants: readonly { readonly value: Scope; readonly label: string; readonly scopes: readonly Scope[] }[] = [
  { value: 'read', label: 'Read', scopes: ['read'] },
  { value: 'write', label: 'Read and write', scopes: ['read', 'write'] },
  { value: 'admin', label: 'Read, write and admin', scopes: ['read', 'write', 'admin'] },
];

export function scopesOf(highest: Scope): Scope[] {
  return [...(grants.find(({ value }) => value === highest)?.scopes ?? ['read'])];
}

const hour = 3600;
const day = 24 * hour;

/** The lifetime of a key, in seconds. None means for ever. */
export const lifetimes = [
  { value: String(hour), label: '1 hour' },
  { value: String(day), label: '1 day' },
  { value: String(7 * day), label: '7 days' },
  { value: String(30 * day), label: '30 days' },
  { value: String(90 * day), label: '90 days' },
  { value: String(365 * day), label: '1 year' },
  { value: '', label: 'Until it is revoked' },
] as const;

export function bindingOf({ org_id: org, team_id: team }: Pick<ApiKey, 'org_id' | 'team_id'>): string {
  if (org === null) return 'All orgs';
  return team === null ? org : `${org}/${team}`;
}

/** Newest first. Only working keys, unless all are requested. */
export function foundKeys(
  keys: readonly ApiKey[],
  { q, show }: { readonly q?: string | undefined; readonly show?: 'all' | undefined },
  now: number,
): readonly ApiKey[] {
  const sought = q?.trim().toLowerCase() ?? '';
  return keys.filter(
    (key) =>
      (show === 'all' || stateOf(key, now) === 'active') &&
      `${key.label} ${key.id} ${bindingOf(key)}`.toLowerCase().includes(sought),
  );
}
