import type { EpochMs } from '../kernel/clock.ts';

/** A key that signs tokens. The private half leaves the store for nothing but signing. */
export interface SigningKeyRecord {
  readonly kid: string;
  /** JSON Web Key, private; empty once the key signs nothing any more. */
  readonly privateJwk: string;
  /** JSON Web Key, public, as it is published. */
  readonly publicJwk: string;
  readonly createdAt: EpochMs;
}

/** The signing keys: the newest signs, the others still verify what they have signed. */
export class SigningKeyRing {
  readonly #keys = new Map<string, SigningKeyRecord>();

  constructor(keys: Iterable<SigningKeyRecord>) {
    for (const key of [...keys].sort((a, b) => a.createdAt - b.createdAt)) this.#keys.set(key.kid, key);
  }

  get current(): SigningKeyRecord | undefined {
    return [...this.#keys.values()].at(-1);
  }

  all(): readonly SigningKeyRecord[] {
    return [...this.#keys.values()];
  }

  find(kid: string): SigningKeyRecord | undefined {
    return this.#keys.get(kid);
  }

  add(key: SigningKeyRecord): void {
    this.#keys.set(key.kid, key);
  }

  remove(kid: string): void {
    this.#keys.delete(kid);
  }

  /** Keys whose private half serves nothing any more: superseded for longer than a token lives. */
  outlived(now: EpochMs, tokenTtlMs: number): readonly SigningKeyRecord[] {
    const keys = this.all();
    return keys.filter((key, index) => {
      const successor = keys[index + 1];
      return key.privateJwk !== '' && successor !== undefined && successor.createdAt + tokenTtlMs < now;
    });
  }
}
