import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Account, ApiKeyRecord, MadeKey } from '@reeve/core';
import { noPassword, timestamp } from '@reeve/core';

/** Records of the core on the wire. */

type ApiKeyJson = RouteOutput<Routes['revokeApiKey']>;
type AccountJson = RouteOutput<Routes['logIn']>['account'];
type ListedAccountJson = RouteOutput<Routes['changeAccount']>;

export function timeOrNull(at: number | null): string | null {
  return at === null ? null : timestamp(at);
}

export function apiKeyJson(key: ApiKeyRecord): ApiKeyJson {
  return {
    id: key.id,
    label: key.label,
    scopes: [...key.scopes],
    org_id: key.orgId,
    team_id: key.teamId,
    created_at: timestamp(key.createdAt),
    expires_at: timeOrNull(key.expiresAt),
    last_used_at: timeOrNull(key.lastUsedAt),
    revoked_at: timeOrNull(key.revokedAt),
  };
}

export function madeKeyJson(made: MadeKey): RouteOutput<Routes['createApiKey']> {
  return { ...apiKeyJson(made.record), key: made.key };
}

export function accountJson({ id, email, name, role, status, createdAt }: Account): AccountJson {
  return { id, email, name, role, status, created_at: timestamp(createdAt) };
}

export function listedAccountJson(account: Account): ListedAccountJson {
  return {
    ...accountJson(account),
    last_login_at: timeOrNull(account.lastLoginAt),
    org_id: account.orgId,
    team_id: account.teamId,
    has_password: account.passwordHash !== noPassword,
  };
}
