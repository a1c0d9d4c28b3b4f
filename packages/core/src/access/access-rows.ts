import type { Row, Table } from '../journal/index.ts';
import { integer, numberIn, optionalNumberIn, optionalTextIn, text, textIn } from '../journal/index.ts';
import type { ApiKeyRecord, Maker } from './api-key.ts';
import type { Scope } from './principal.ts';
import { scopes } from './principal.ts';
import type { SigningKeyRecord } from './signing-key.ts';

export const apiKeysTable: Table<ApiKeyRecord, 'id'> = {
  name: 'api_keys',
  key: { id: text(({ id }) => id) },
  columns: {
    hash: text((key) => key.hash),
    label: text((key) => key.label),
    scopes: text((key) => key.scopes.join(' ')),
    org_id: text((key) => key.orgId),
    team_id: text((key) => key.teamId),
    created_at: integer((key) => key.createdAt),
    expires_at: integer((key) => key.expiresAt),
    last_used_at: integer((key) => key.lastUsedAt),
    revoked_at: integer((key) => key.revokedAt),
    made_by_kind: text((key) => key.madeBy?.kind ?? null),
    made_by_id: text((key) => key.madeBy?.id ?? null),
    rotated_from: text((key) => key.rotatedFrom),
  },
  itemOf: (row) => ({
    id: textIn(row, 'id'),
    hash: textIn(row, 'hash'),
    label: textIn(row, 'label'),
    scopes: textIn(row, 'scopes').split(' ').filter(isScope),
    orgId: optionalTextIn(row, 'org_id'),
    teamId: optionalTextIn(row, 'team_id'),
    createdAt: numberIn(row, 'created_at'),
    expiresAt: optionalNumberIn(row, 'expires_at'),
    lastUsedAt: optionalNumberIn(row, 'last_used_at'),
    revokedAt: optionalNumberIn(row, 'revoked_at'),
    madeBy: makerIn(row),
    rotatedFrom: optionalTextIn(row, 'rotated_from'),
  }),
};

export const signingKeysTable: Table<SigningKeyRecord, 'kid'> = {
  name: 'signing_keys',
  key: { kid: text(({ kid }) => kid) },
  columns: {
    private_jwk: text((key) => key.privateJwk),
    public_jwk: text((key) => key.publicJwk),
    created_at: integer((key) => key.createdAt),
  },
  itemOf: (row) => ({
    kid: textIn(row, 'kid'),
    privateJwk: textIn(row, 'private_jwk'),
    publicJwk: textIn(row, 'public_jwk'),
    createdAt: numberIn(row, 'created_at'),
  }),
};

/** Who made a key or an invite. */
export function makerIn(row: Row): Maker | null {
  const id = optionalTextIn(row, 'made_by_id');
  if (id === null) return null;
  return { kind: textIn(row, 'made_by_kind') === 'account' ? 'account' : 'api_key', id };
}

function isScope(value: string): value is Scope {
  return scopes.some((scope) => scope === value);
}
