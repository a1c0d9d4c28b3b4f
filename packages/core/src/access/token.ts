import type { Role, Scope } from './principal.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { SigningKeyRecord } from './signing-key.ts';

/** What a token says. */
export type TokenClaims = KeyClaims | AccountClaims;

export interface KeyClaims extends CommonClaims {
  /** `sub` is the id of the key. */
  readonly kind: 'api_key';
}

export interface AccountClaims extends CommonClaims {
  /** `sub` is the id of the account. */
  readonly kind: 'account';
  readonly sessionId: string;
  readonly role: Role;
}

interface CommonClaims {
  readonly sub: string;
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
