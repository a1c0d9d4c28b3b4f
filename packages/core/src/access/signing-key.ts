import type { Role, Scope } from './principal.ts';
import type { Undo } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';

/** A key that signs tokens. The private half leaves the store only to sign. */
export interface SigningKeyRecord {
  readonly kid: string;
  /** Private JSON Web Key. Empty once the key no longer signs. */
  readonly privateJwk: string;
  /** Public JSON Web Key, as published. */
  readonly publicJwk: string;
  readonly createdAt: EpochMs;
}

/** What rules see of the signing keys. Only facts and the store change them. */
export type KnownSigningKeys = Omit<SigningKeyRing, 'add' | 'remove' | 'beginReading' | 'renew'>;

/**
 * The signing keys. The newest one signs. Earlier ones still verify tokens, as long as they have their private half,
 * and what they have signed in the log for good.
 */
export class SigningKeyRing {
  readonly #keys = new Map<string, SigningKeyRecord>();
  /** What has changed since the keys are being read again. */
  #recent = new Set<string>();

  constructor(keys: readonly SigningKeyRecord[]) {
    this.renew(keys);
  }

  get current(): SigningKeyRecord | undefined {
    return [...this.#keys.values()].findLast(({ privateJwk }) => privateJwk !== '');
  }

  all(): readonly SigningKeyRecord[] {
    return [...this.#keys.values()];
  }

  /** The key that a token names, if tokens that it has signed may still be in use. */
  findForTokens(kid: string): SigningKeyRecord | undefined {
    const key = this.#keys.get(kid);
    return key?.privateJwk === '' ? undefined : key;
  }

  add(key: SigningKeyRecord): Undo {
    return this.#place(key.kid, key);
  }

  remove(kid: string): Undo {
    return this.#place(kid, undefined);
  }

  #place(kid: string, key: SigningKeyRecord | undefined): Undo {
    const before = this.#keys.get(kid);
    this.#set(kid, key);
    return () => {
      // What another gateway has made of the key since stays.
      if (this.#keys.get(kid) === key) this.#set(kid, before);
    };
  }

  #set(kid: string, key: SigningKeyRecord | undefined): void {
    if (key === undefined) this.#keys.delete(kid);
    else this.#keys.set(kid, key);
    this.#fill(this.all());
    this.#recent.add(kid);
  }

  /** The order is that of creation, wherever a key was made. */
  #fill(keys: readonly SigningKeyRecord[]): void {
    this.#keys.clear();
    for (const key of keys.toSorted((a, b) => a.createdAt - b.createdAt)) this.#keys.set(key.kid, key);
  }

  /** From now on until `renew`, what changes here counts more than what is read. */
  beginReading(): void {
    this.#recent = new Set();
  }

  /** These keys are stored, and no others. */
  renew(stored: readonly SigningKeyRecord[]): void {
    const recent = this.#recent;
    const kept = this.all().filter(({ kid }) => recent.has(kid));
    this.#fill([...stored.filter(({ kid }) => !recent.has(kid)), ...kept]);
  }

  /** Keys that no longer need their private half: superseded longer ago than a token lives. */
  outlived(now: EpochMs, tokenTtlMs: number): readonly SigningKeyRecord[] {
    const keys = this.all();
    return keys.filter((key, index) => {
      const successor = keys[index + 1];
      return key.privateJwk !== '' && successor !== undefined && successor.createdAt + tokenTtlMs < now;
    });
  }
}

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

/** Makes and reads signed tokens. The adapter chooses their form. */
export interface TokenMint {
  makeKey(now: EpochMs): Promise<SigningKeyRecord>;
  sign(claims: TokenClaims, key: SigningKeyRecord): Promise<string>;
  /** Signs a text. The result is a compact JWS, which contains the text. */
  signText(text: string, key: SigningKeyRecord): Promise<string>;
  /** The claims of a token, if a key that `find` knows has signed it. Undefined for anything else. */
  verify(token: string, find: (kid: string) => SigningKeyRecord | undefined): Promise<TokenClaims | undefined>;
}
