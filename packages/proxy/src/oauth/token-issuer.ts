import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose';
import { discoverIssuer, NoSuchIssuer } from './authorization-server.ts';
import { boundedFetch, EndpointAway } from './bounded-fetch.ts';
import { namedUrl } from './secure-url.ts';

/** The token proves nothing. The message says why, and holds nothing of the token. */
export class InvalidToken extends Error {}

/** The keys of the issuer cannot be had, so nobody can say what the token proves. */
export class IssuerAway extends Error {}

export interface VerifiedToken {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Up to when the token is accepted, in milliseconds of the epoch: until its `exp`, and the leeway. */
  readonly acceptedUntil: number;
}

const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];
export const longestToken = 16 * 1024;
const leewaySecs = 60;
const keysForMs = 3_600_000;
const unknownKeyMs = 30_000;
const awayForMs = 5000;
/** Tokens that are something else say so here, such as `logout+jwt` or `oauth-id-jag+jwt`. */
const accessTypes = new Set(['', 'jwt', 'at+jwt', 'application/at+jwt']);
const idTypes = new Set(['', 'jwt']);

/** An issuer of tokens: its keys are fetched when they are needed, kept for an hour, and looked up again for a new `kid`. */
export class TokenIssuer {
  readonly issuer: string;
  readonly #jwksUri: URL | undefined;
  #keys: Promise<JWTVerifyGetKey> | undefined;
  #restUntil = 0;

  constructor(issuer: string, jwksUri: URL | undefined) {
    this.issuer = issuer;
    this.#jwksUri = jwksUri;
  }

  /** Whether a token says that it is of this issuer. Proves nothing. */
  isNamedIn(token: string): boolean {
    return statedIssuer(token) === this.issuer;
  }

  /** Verifies an access token that is meant for one of the audiences. Throws `InvalidToken` or `IssuerAway`. */
  async verifyAccess(token: string, audience: string): Promise<VerifiedToken> {
    return this.#verify(token, accessTypes, { audience });
  }

  /** Verifies an ID token, whoever it was issued to. The provider that takes it checks that. */
  async verifyId(token: string): Promise<VerifiedToken> {
    return this.#verify(token, idTypes, {});
  }

  async #verify(token: string, types: ReadonlySet<string>, more: { audience?: string }): Promise<VerifiedToken> {
    if (token.length > longestToken) throw new InvalidToken('the token is too long');
    const keys = await this.#findKeys();
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      ...more,
      issuer: this.issuer,
      algorithms,
      clockTolerance: leewaySecs,
      requiredClaims: ['exp', 'sub'],
    }).catch((error: unknown) => {
      throw meaningOf(error);
    });
    if (!types.has(protectedHeader.typ?.toLowerCase() ?? '')) throw new InvalidToken('the token is of another type');
    // It works only for the holder of a key, who has proven nothing here.
    if (payload['cnf'] !== undefined) throw new InvalidToken('the token is bound to a key');
    return verified(payload);
  }

  #findKeys(): Promise<JWTVerifyGetKey> {
    if (this.#keys === undefined && performance.now() < this.#restUntil) {
      return Promise.reject(new IssuerAway('the keys of the issuer could not be fetched just now'));
    }
    this.#keys ??= this.#discoverKeys().catch((error: unknown) => {
      this.#keys = undefined;
      this.#restUntil = performance.now() + awayForMs;
      throw new IssuerAway(error instanceof Error ? error.message : String(error), { cause: error });
    });
    return this.#keys;
  }

  async #discoverKeys(): Promise<JWTVerifyGetKey> {
    return createRemoteJWKSet(this.#jwksUri ?? (await this.#discoverUri()), {
      cacheMaxAge: keysForMs,
      cooldownDuration: unknownKeyMs,
      [customFetch]: (url, { headers, signal }) => boundedFetch(url, { headers, signal }),
    });
  }

  async #discoverUri(): Promise<URL> {
    const issuer = new URL(this.issuer);
    const uri = namedUrl((await discoverIssuer(issuer))['jwks_uri'], issuer);
    if (uri === undefined)
      throw new NoSuchIssuer(`the document of ${issuer.href} names no jwks_uri; set oauth.jwks_uri`);
    return uri;
  }
}

function verified(payload: JWTPayload): VerifiedToken {
  const { sub, exp } = payload;
  if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number')
    throw new InvalidToken('the token names nobody');
  return { subject: sub, claims: payload, acceptedUntil: (exp + leewaySecs) * 1000 };
}

/** The `iss` of a JWT that nobody has verified. */
export function statedIssuer(token: string): string | undefined {
  return statedClaims(token)?.['iss'] as string | undefined;
}

/** The claims of a JWT that nobody has verified. */
export function statedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload, ...rest] = token.length > longestToken ? [] : token.split('.');
  if (payload === undefined || rest.length !== 1) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function meaningOf(error: unknown): Error {
  if (error instanceof EndpointAway || error instanceof errors.JWKSTimeout) return new IssuerAway(error.message);
  if (error instanceof errors.JWTExpired) return new InvalidToken('the token has expired');
  if (error instanceof errors.JWTClaimValidationFailed) return new InvalidToken(claimFault(error.claim));
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new InvalidToken('the token is signed by an algorithm that is not accepted');
  if (error instanceof errors.JWKSNoMatchingKey)
    return new InvalidToken('the token is signed with a key that the issuer does not have');
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return new InvalidToken('the signature of the token is wrong');
  if (error instanceof errors.JWKSInvalid) return new IssuerAway('the keys of the issuer cannot be read');
  // What is left comes from the document with the keys: it is no JSON, or its status is not 200.
  if (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC') {
    return new IssuerAway('the keys of the issuer cannot be fetched');
  }
  if (error instanceof errors.JOSEError) return new InvalidToken('the token is malformed');
  return error instanceof Error ? error : new Error(String(error));
}

function claimFault(claim: string): string {
  if (claim === 'aud') return 'the token is meant for another audience';
  if (claim === 'iss') return 'the token is of another issuer';
  if (claim === 'nbf') return 'the token is not valid yet';
  return `the claim ${/^\w{1,32}$/.test(claim) ? claim : 'of the token'} is missing or wrong`;
}
