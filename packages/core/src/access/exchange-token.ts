import { canonicalJson, draftOf, lineageOfBinding } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Access } from './access.ts';
import type { Principal, Scope } from './principal.ts';
import { covers, scopes } from './principal.ts';

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: number;
  readonly scopes: readonly Scope[];
}

/** Exchanges an API key for a token with all scopes of the key, or only the requested ones. */
export async function exchangeToken(
  access: Access,
  by: Principal,
  asked: readonly Scope[] | undefined,
): Promise<IssuedToken> {
  const { mint, signingKeys } = access;
  const granted = asked === undefined ? by.scopes : scopes.filter((scope) => asked.includes(scope));
  const excess = granted.find((scope) => !covers(by.scopes, scope));
  if (excess !== undefined) {
    throw new ReeveError(
      'insufficient_scope',
      `the scope "${excess}" was asked for; the key grants ${by.scopes.join(', ')}`,
      {
        required_scope: excess,
      },
    );
  }
  const signingKey = signingKeys.current;
  if (signingKey === undefined) throw new Error('there is no signing key');
  const now = access.clock.now();
  const claims = {
    sub: by.credentialId,
    kind: 'api_key',
    scopes: granted,
    orgId: by.orgId,
    teamId: by.teamId,
    issuedAt: now,
    // A token does not outlive the key it was made from, wherever it is verified.
    expiresAt: Math.min(now + access.tokenTtlMs, by.expiresAt ?? Number.POSITIVE_INFINITY),
    tokenId: access.randomness.hex(16),
  } as const;
  const token = await mint.sign(claims, signingKey);
  const request = by.requestId === undefined ? {} : { request_id: by.requestId };
  await access.journal.turn(access.callers.warrantOf(by), () =>
    access.journal.record(
      draftOf({
        at: now,
        eventType: 'TokenIssued',
        actor: by.actor,
        lineage: lineageOfBinding(by),
        payload: canonicalJson({
          ...request,
          key_id: by.credentialId,
          scopes: [...granted],
          token_id: claims.tokenId,
        }),
      }),
    ),
  );
  return { token, expiresAt: claims.expiresAt, scopes: granted };
}
