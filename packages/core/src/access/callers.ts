import type { AccessSnapshot } from './access-snapshot.ts';
import type { KeyRing } from './key-ring.ts';
import type { Principal } from './principal.ts';
import type { KnownSigningKeys, SigningKeyRing } from './signing-key.ts';
import type { Warrant } from '../journal/index.ts';
import type { Clock } from '../kernel/index.ts';
import { RecentMap, ReeveError } from '../kernel/index.ts';

/** So many ends are remembered. Whoever was authenticated before them is asked to show its credential again. */
const mostRemembered = 10_000;

/** Reads all credentials from the store, once everything that this gateway has done before is durable. */
export type ReadCredentials = () => Promise<AccessSnapshot>;

/** For a gateway that is alone on its store. It reads nothing that others have done. */
const unreadable: ReadCredentials = () => Promise.reject(new Error('there is nothing to read credentials from'));

/** What rules see of callers. Only facts end them. */
export type KnownCallers = Omit<Callers, 'ended' | 'distrust' | 'signingKeys'> & {
  readonly signingKeys: KnownSigningKeys;
};

/**
 * Knows whether an authenticated caller may still act. A turn asks at every run, so it asks memory alone. Of accounts,
 * memory knows only which of them, and which sessions, have lost rights, and in which order.
 */
export class Callers {
  readonly #clock: Clock;
  readonly #keys: KeyRing;
  readonly signingKeys: SigningKeyRing;
  readonly #endings = new RecentMap<number>(mostRemembered);
  readonly #readAll: ReadCredentials;
  #count = 0;
  /** Nobody who was authenticated before this end is believed. */
  #distrusted = 0;
  #settled = 0;
  #reading: Promise<void> | undefined;

  constructor(clock: Clock, keys: KeyRing, signingKeys: SigningKeyRing, readAll: ReadCredentials = unreadable) {
    this.#clock = clock;
    this.#keys = keys;
    this.signingKeys = signingKeys;
    this.#readAll = readAll;
  }

  /** How many ends are known. Take it before the lookup that a principal rests on. */
  get asOf(): number {
    return this.#count;
  }

  /** These accounts and sessions have lost rights. What was looked up before does not hold any more. */
  ended(ids: readonly string[]): void {
    for (const id of ids) this.#endings.set(id, ++this.#count);
  }

  /**
   * Another gateway may have ended any credential, and it cannot be read which. Whoever was authenticated before shows
   * its credential again, and `settled` reads all of them first.
   */
  distrust(): void {
    this.#distrusted = ++this.#count;
  }

  /** Resolves once what is known of credentials can be relied on. */
  async settled(): Promise<void> {
    while (this.#settled < this.#distrusted) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
  }

  async #read(): Promise<void> {
    const settles = this.#distrusted;
    this.#keys.beginReading();
    this.signingKeys.beginReading();
    const { apiKeys, signingKeys } = await this.#readAll().catch(() => {
      const detail = 'credentials must be read again, and cannot be read now; nothing was done';
      throw new ReeveError('store_unavailable', detail);
    });
    this.#keys.renew(apiKeys);
    this.signingKeys.renew(signingKeys);
    this.#settled = settles;
  }

  /** What a turn for this caller takes. */
  warrantOf(by: Principal): Warrant {
    return { require: () => this.require(by) };
  }

  require(by: Principal): void {
    if (this.isInForce(by) && !this.#hasEnded(by)) return;
    throw new ReeveError('unauthenticated', 'the credential has ended, or its rights have changed; nothing was done');
  }

  /** Whether the key, the token and the key that signed it still hold. It does not look at accounts. */
  isInForce(by: Principal): boolean {
    const { credentialId, expiresAt, signedBy } = by;
    if (expiresAt !== null && this.#clock.now() >= expiresAt) return false;
    if (isKey(by) && !this.#keys.isInForce(credentialId)) return false;
    return signedBy === undefined || this.signingKeys.findForTokens(signedBy) !== undefined;
  }

  #hasEnded(by: Principal): boolean {
    if (this.#count === by.asOf) return false;
    if (by.asOf < this.#distrusted || by.asOf < this.#count - mostRemembered) return true;
    return this.#behind(by).some((id) => (this.#endings.get(id) ?? 0) > by.asOf);
  }

  /** The accounts and the session that the rights of a caller rest on. */
  #behind(by: Principal): readonly string[] {
    const { credentialId, login } = by;
    if (login !== undefined) return [login.accountId, login.sessionId];
    return isKey(by) ? this.#keys.accountsBehind(credentialId) : [credentialId];
  }
}

/** Whether a key stands behind a caller, or a token made from one. Otherwise it is a person, logged in or by a link. */
export function isKey({ actor, login }: Principal): boolean {
  return login === undefined && actor.kind === 'api_key';
}
