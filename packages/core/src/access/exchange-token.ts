import { canonicalJson, draftOf, lineageOfBinding } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Access } from './access.ts';
import type { ApiKeyRecord } from './api-key.ts';
import type { Scope } from './principal.ts';
import { covers, scopes } from './principal.ts';

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: number;
  readonly scopes: readonly Scope[];
}

/** Exchanges an API key for a token with all scopes of the key, or only the requested ones. */
export async function exchangeToken(
  access: Access,
  key: ApiKeyRecord,
  asked: readonly Scope[] | undefined,
  requestId: string,
): Promise<IssuedToken> {
  const { mint, signingKeys } = access;
  const granted = asked === undefined ? key.scopes : scopes.filter((scope) => asked.includes(scope));
  const excess = granted.find((scope) => !covers(key.scopes, scope));
  if (excess !== undefined) {
    throw new ReeveError(
      'insufficient_scope',
      `the scope "${excess}" was asked for; the key grants ${key.scopes.join(', ')}`,
      {
        required_scope: excess,
      },
    );
  }
  const signingKey = signingKeys.current;
  if (signingKey === undefined) throw new Error('there is no signing key');
  const now = access.clock.now();
  const claims = {
    sub: key.id,
    kind: 'api_key',
    scopes: granted,
    orgId: key.orgId,
    teamId: key.teamId,
    issuedAt: now,
    // A token does not outlive the key it was made from, wherever it is verified.
    expiresAt: Math.min(now + access.tokenTtlMs, key.expiresAt ?? Number.POSITIVE_INFINITY),
    tokenId: access.randomness.hex(16),
  } as const;
  const token = await mint.sign(claims, signingKey);
  access.journal.record(
    draftOf({
      at: now,
      eventType: 'TokenIssued',
      actor: { id: key.id, kind: 'api_key', label: key.label },
      lineage: lineageOfBinding(key),
      payload: canonicalJson({ key_id: key.id, request_id: requestId, scopes: [...granted], token_id: claims.tokenId }),
    }),
  );
  await access.journal.committed();
  return { token, expiresAt: claims.expiresAt, scopes: granted };
}
