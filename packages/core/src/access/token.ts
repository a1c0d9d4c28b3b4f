import type { EpochMs } from '../kernel/clock.ts';
import type { Scope } from './scope.ts';
import type { SigningKeyRecord } from './signing-key.ts';

/** What a token says. */
export interface TokenClaims {
  readonly sub: string;
  readonly kind: 'api_key';
  readonly scopes: readonly Scope[];
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly issuedAt: EpochMs;
  readonly expiresAt: EpochMs;
  readonly tokenId: string;
}

/** Makes and reads signed tokens; the form is an adapter's business. */
export interface TokenMint {
  makeKey(now: EpochMs): Promise<SigningKeyRecord>;
  sign(claims: TokenClaims, key: SigningKeyRecord): Promise<string>;
  /** A signature over a text, in the compact form of JWS, which holds the text. */
  signText(text: string, key: SigningKeyRecord): Promise<string>;
  /** The claims of a token with a good signature by a key that `find` knows; undefined for anything else. */
  verify(token: string, find: (kid: string) => SigningKeyRecord | undefined): Promise<TokenClaims | undefined>;
}
