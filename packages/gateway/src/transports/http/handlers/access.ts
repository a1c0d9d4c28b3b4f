import type { Access, Account, Principal, Tickets } from '@reeve/core';
import { createKey, exchangeToken, listKeys, revokeKey, rotateKey, rotateSigningKey, timestamp } from '@reeve/core';
import { cursorOf, placeOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import { accountJson, apiKeyJson, madeKeyJson, timeOrNull } from '../present.ts';

type AccessRoutes =
  | 'exchangeToken'
  | 'me'
  | 'wsTicket'
  | 'listApiKeys'
  | 'createApiKey'
  | 'rotateApiKey'
  | 'revokeApiKey'
  | 'revokeApiKeyUnversioned'
  | 'rotateSigningKey';

export interface AccessPorts {
  readonly access: Access;
  readonly tickets: Tickets;
  readonly findAccount: (id: string) => Promise<Account | undefined>;
}

export function accessHandlers({ access, tickets, findAccount }: AccessPorts): Pick<Handlers, AccessRoutes> {
  const revoke = async (principal: Principal, id: string) => apiKeyJson(await revokeKey(access, principal, id));
  return {
    exchangeToken: async ({ body }, { principal }) => {
      const { token, expiresAt, scopes } = await exchangeToken(access, principal, body.scopes);
      return { token, expires_at: Math.floor(expiresAt / 1000), scopes: [...scopes] };
    },
    me: async (_input, { principal }) => {
      const common = { scopes: [...principal.scopes], org_id: principal.orgId, team_id: principal.teamId };
      if (principal.login !== undefined) {
        const account = await findAccount(principal.login.accountId);
        return { ...common, kind: 'account', ...(account === undefined ? {} : { account: accountJson(account) }) };
      }
      const key = access.keys.find(principal.credentialId);
      return {
        ...common,
        kind: 'api_key',
        key: { id: principal.credentialId, label: key?.label ?? '', expires_at: timeOrNull(key?.expiresAt ?? null) },
      };
    },
    wsTicket: async (_input, { principal }) => {
      const { ticket, expiresAt } = await tickets.issue(principal);
      return { ticket, expires_at: timestamp(expiresAt) };
    },
    listApiKeys: ({ query }, { principal }) => {
      const all = listKeys(access, principal).filter((key) => query.org_id === undefined || key.orgId === query.org_id);
      const start = placeOf(query.cursor) ?? 0;
      // Pages count from the oldest key, so that new keys do not shift the following pages.
      const upTo = start === 0 ? all.length : Math.min(start, all.length);
      const items = fitting(all.slice(all.length - upTo, all.length - upTo + query.per_page), apiKeyJson);
      const rest = upTo - items.length;
      return { items, next_cursor: cursorOf(rest > 0 ? rest : null), total: all.length };
    },
    createApiKey: async ({ body }, { principal }) => {
      const made = await createKey(access, principal, {
        label: body.label,
        scopes: body.scopes,
        orgId: body.org_id ?? null,
        teamId: body.team_id ?? null,
        ttlMs: body.ttl_secs == null ? null : body.ttl_secs * 1000,
      });
      return madeKeyJson(made);
    },
    rotateApiKey: async ({ params }, { principal }) => madeKeyJson(await rotateKey(access, principal, params.id)),
    revokeApiKey: ({ params }, { principal }) => revoke(principal, params.id),
    revokeApiKeyUnversioned: ({ params }, { principal }) => revoke(principal, params.id),
    rotateSigningKey: async (_input, { principal }) => {
      const key = await rotateSigningKey(access, principal);
      return { kid: key.kid, created_at: timestamp(key.createdAt) };
    },
  };
}
