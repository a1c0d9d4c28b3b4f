import type { Scope } from '@reeve/contract/names';
import type { Answer } from './send.ts';

export type Account = Answer<'logIn'>['account'];

/** The rights of a credential, and its lifetime. Kept in memory only. */
export interface Grant {
  readonly token: string;
  /** In milliseconds of this computer's clock. */
  readonly expiresAt: number;
  /** The lifetime of the token at its issue. */
  readonly lifetimeMs: number;
  readonly kind: 'account' | 'api_key';
  readonly scopes: readonly Scope[];
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly account: Account | undefined;
  /** The name of the signed-in person or key. */
  readonly label: string;
}

/** A session of an account. It can be renewed as long as its refresh cookie works. */
export function accountGrant({ access_token, expires_in, account }: Answer<'logIn'>): Grant {
  const claims = claimsOf(access_token);
  const lifetimeMs = expires_in * 1000;
  return {
    token: access_token,
    expiresAt: Date.now() + lifetimeMs,
    lifetimeMs,
    kind: 'account',
    scopes: claims.scope ?? ['read'],
    orgId: claims.org_id ?? null,
    teamId: claims.team_id ?? null,
    account,
    label: account.name === '' ? account.email : account.name,
  };
}

/** A token made from an API key. The key itself is not kept, so the token cannot be renewed. */
export function keyGrant(exchanged: Answer<'exchangeToken'>, me: Answer<'me'>): Grant {
  const expiresAt = exchanged.expires_at * 1000;
  return {
    token: exchanged.token,
    expiresAt,
    lifetimeMs: Math.max(0, expiresAt - Date.now()),
    kind: 'api_key',
    scopes: exchanged.scopes,
    orgId: me.org_id,
    teamId: me.team_id,
    account: undefined,
    label: me.key === undefined ? 'API key' : me.key.label,
  };
}

interface Claims {
  readonly scope?: readonly Scope[];
  readonly org_id?: string;
  readonly team_id?: string;
}

/** Read only to decide what to show. The gateway decides what is allowed. */
function claimsOf(token: string): Claims {
  try {
    const [, payload = ''] = token.split('.');
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Claims;
  } catch {
    return {};
  }
}
