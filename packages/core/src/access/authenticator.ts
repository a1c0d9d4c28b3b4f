import { ReeveError } from '../kernel/errors.ts';
import type { Access } from './access.ts';
import type { ApiKeyRecord } from './api-key.ts';
import type { Principal } from './principal.ts';
import type { TokenClaims } from './token.ts';

const mostRemembered = 10_000;

/**
 * Tells who calls. Raw keys are looked up in memory; tokens are verified once and then remembered, with expiry and
 * revocation looked at on every call, so that neither costs a database or a signature twice.
 */
export class Authenticator {
  readonly #access: Access;
  readonly #verified = new Map<string, TokenClaims>();

  constructor(access: Access) {
    this.#access = access;
  }

  /** The caller behind an `Authorization` value. What exactly was wrong is not told: it would help a guesser. */
  async authenticate(authorization: string | undefined): Promise<Principal> {
    const bearer = bearerOf(authorization);
    const key = this.#access.keys.recognise(bearer);
    if (key !== undefined) return this.#used(principalOfKey(key));
    const claims = await this.#claimsOf(bearer);
    if (claims === undefined) throw refused();
    const principal = this.#principalOf(claims);
    if (principal === undefined) throw refused();
    return this.#used(principal);
  }

  /** The API key behind an `Authorization` value; a token made from one is not enough. */
  authenticateKey(authorization: string | undefined): ApiKeyRecord {
    const key = this.#access.keys.recognise(bearerOf(authorization));
    if (key === undefined) throw refused();
    this.#access.keys.noteUse(key.id);
    return key;
  }

  /** Whether what was once authenticated still is, as for a stream that stays open. */
  isStillValid(principal: Principal): boolean {
    const alive = principal.expiresAt === null || this.#access.gov.clock.now() < principal.expiresAt;
    return alive && this.#access.keys.isInForce(principal.keyId);
  }

  #used(principal: Principal): Principal {
    this.#access.keys.noteUse(principal.keyId);
    return principal;
  }

  async #claimsOf(token: string): Promise<TokenClaims | undefined> {
    const { gov, mint, signingKeys } = this.#access;
    const name = gov.sha256(token);
    const remembered = this.#verified.get(name);
    if (remembered !== undefined) return remembered;
    const claims = await mint.verify(token, (kid) => signingKeys.find(kid));
    if (claims !== undefined) this.#remember(name, claims);
    return claims;
  }

  #remember(name: string, claims: TokenClaims): void {
    if (this.#verified.size >= mostRemembered) {
      const [oldest] = this.#verified.keys();
      if (oldest !== undefined) this.#verified.delete(oldest);
    }
    this.#verified.set(name, claims);
  }

  #principalOf(claims: TokenClaims): Principal | undefined {
    const { gov, keys } = this.#access;
    const key = keys.find(claims.sub);
    if (key === undefined || !keys.isInForce(key.id) || gov.clock.now() >= claims.expiresAt) return undefined;
    return {
      actor: { id: key.id, kind: 'api_key', label: key.label },
      keyId: key.id,
      scopes: claims.scopes,
      orgId: claims.orgId,
      teamId: claims.teamId,
      expiresAt: claims.expiresAt,
    };
  }
}

function principalOfKey(key: ApiKeyRecord): Principal {
  return {
    actor: { id: key.id, kind: 'api_key', label: key.label },
    keyId: key.id,
    scopes: key.scopes,
    orgId: key.orgId,
    teamId: key.teamId,
    expiresAt: key.expiresAt,
  };
}

function bearerOf(authorization: string | undefined): string {
  const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  throw new ReeveError('unauthenticated', 'this needs the header "Authorization: Bearer <API key or token>"');
}

function refused(): ReeveError {
  return new ReeveError('unauthenticated', 'the credential is not valid: it is wrong, expired or revoked');
}
