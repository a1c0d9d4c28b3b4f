import type { ApiKeyRecord } from './api-key.ts';
import { parseApiKey } from './api-key.ts';
import { accountsBehind } from './credential-lineage.ts';
import type { Clock, EpochMs, Sha256 } from '../kernel/index.ts';
import { equalInConstantTime } from '../kernel/index.ts';

/** The API keys of the gateway. They are in memory, so recognising a key needs no database. */
export class KeyRing {
  readonly #clock: Clock;
  readonly #sha256: Sha256;
  readonly #byId = new Map<string, ApiKeyRecord>();
  readonly #used = new Map<string, EpochMs>();
  /** The accounts behind each key. The origin of a key never changes. */
  readonly #accounts = new Map<string, readonly string[]>();
  /** Unknown ancestors of known keys. Rows of another gateway may arrive out of order. */
  readonly #missing = new Set<string>();

  constructor(clock: Clock, sha256: Sha256, keys: Iterable<ApiKeyRecord>) {
    this.#clock = clock;
    this.#sha256 = sha256;
    for (const key of [...keys].sort((a, b) => a.createdAt - b.createdAt)) this.#byId.set(key.id, key);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Every key, in the order of creation. */
  all(): ApiKeyRecord[] {
    return [...this.#byId.keys()].map((id) => this.find(id)).filter((key) => key !== undefined);
  }

  find(id: string): ApiKeyRecord | undefined {
    const key = this.#byId.get(id);
    const usedAt = this.#used.get(id);
    return key === undefined || usedAt === undefined ? key : { ...key, lastUsedAt: usedAt };
  }

  put(key: ApiKeyRecord): void {
    this.#byId.set(key.id, key);
    if (this.#missing.delete(key.id)) this.#accounts.clear();
  }

  /** The accounts behind a key. The key works only while all of them are active. */
  accountsBehind(id: string): readonly string[] {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    const keys = {
      find: (above: string) => {
        const key = this.#byId.get(above);
        if (key === undefined) this.#missing.add(above);
        return key;
      },
    };
    const found = accountsBehind(keys, id, (above) => this.#accounts.get(above));
    this.#accounts.set(id, found);
    return found;
  }

  remove(id: string): void {
    this.#byId.delete(id);
    this.#accounts.delete(id);
  }

  /** The record of a presented key, if the key is genuine and in force. */
  recognise(key: string): ApiKeyRecord | undefined {
    const parsed = parseApiKey(key);
    const record = parsed.ok ? this.#byId.get(parsed.id) : undefined;
    if (record === undefined || !equalInConstantTime(this.#sha256(key), record.hash)) return undefined;
    return this.isInForce(record.id) ? record : undefined;
  }

  isInForce(id: string): boolean {
    const key = this.#byId.get(id);
    if (key === undefined || key.revokedAt !== null) return false;
    return key.expiresAt === null || this.#clock.now() < key.expiresAt;
  }

  /** Notes that a key was used. The note reaches the store later, not at every call. */
  noteUse(id: string): void {
    this.#used.set(id, this.#clock.now());
  }

  /** The keys used since the last call, with the time of use. */
  takeUsed(): ApiKeyRecord[] {
    const used = [...this.#used.keys()].map((id) => this.find(id)).filter((key) => key !== undefined);
    for (const key of used) this.#byId.set(key.id, key);
    this.#used.clear();
    return used;
  }
}
