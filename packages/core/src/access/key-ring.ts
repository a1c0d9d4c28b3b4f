import type { ApiKeyRecord } from './api-key.ts';
import { parseApiKey } from './api-key.ts';
import { accountsBehind, keysAbove } from './credential-lineage.ts';
import type { Undo } from '../journal/index.ts';
import type { Clock, EpochMs, Sha256 } from '../kernel/index.ts';
import { equalInConstantTime, ReeveError } from '../kernel/index.ts';

/** What rules see of the keys. Only facts and the store change them. */
export type KnownKeys = Omit<KeyRing, 'put' | 'remove' | 'written' | 'beginReading' | 'renew'>;

/** The API keys of the gateway. They are in memory, so recognising a key needs no database. */
export class KeyRing {
  readonly #clock: Clock;
  readonly #sha256: Sha256;
  readonly #byId = new Map<string, ApiKeyRecord>();
  /** Uses that nobody has written yet. */
  readonly #used = new Map<string, EpochMs>();
  /** The accounts behind each key. The origin of a key never changes. */
  readonly #accounts = new Map<string, readonly string[]>();
  /** Whether all that a key comes from is known. */
  readonly #whole = new Map<string, boolean>();
  /** Unknown ancestors of known keys: they could not be read, or rows of another gateway arrive out of order. */
  readonly #missing = new Set<string>();
  /** What has changed since the keys are being read again. */
  #recent = new Set<string>();

  constructor(clock: Clock, sha256: Sha256, keys: Iterable<ApiKeyRecord>) {
    this.#clock = clock;
    this.#sha256 = sha256;
    this.renew(keys);
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
    return key === undefined || usedAt === undefined ? key : usedSince(key, usedAt);
  }

  put(key: ApiKeyRecord): Undo {
    const before = this.#byId.get(key.id);
    this.#byId.set(key.id, key);
    this.#recent.add(key.id);
    if (this.#missing.delete(key.id)) this.#forgetDescents();
    return () => {
      const now = this.#byId.get(key.id);
      if (before === undefined) this.remove(key.id);
      // A use that others have told of since stays.
      else this.put(now === key || now?.lastUsedAt == null ? before : usedSince(before, now.lastUsedAt));
    };
  }

  /** The accounts behind a key. The key works only while all of them are active. */
  accountsBehind(id: string): readonly string[] {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    this.isWhole(id);
    const found = accountsBehind(this, id, (above) => this.#accounts.get(above));
    this.#accounts.set(id, found);
    return found;
  }

  remove(id: string): void {
    this.#byId.delete(id);
    this.#recent.add(id);
    this.#forgetDescents();
  }

  /** From now on until `renew`, what changes here counts more than what is read. */
  beginReading(): void {
    this.#recent = new Set();
  }

  /** These keys are stored, and no others. */
  renew(stored: Iterable<ApiKeyRecord>): void {
    const recent = this.#recent;
    const known = new Set(this.#byId.keys());
    for (const key of [...stored].sort((a, b) => a.createdAt - b.createdAt)) {
      known.delete(key.id);
      if (!recent.has(key.id)) this.put(key);
    }
    for (const id of known) if (!recent.has(id)) this.remove(id);
    this.#recent = new Set();
  }

  /**
   * Whether all keys that a key comes from are known. If one of them could not be read, nobody knows which account
   * stands behind the key, nor which agents it has registered. A chain of rotations is walked up to where it is known.
   */
  isWhole(id: string): boolean {
    const before = this.#whole.get(id);
    if (before !== undefined) return before;
    const line = new Set([id]);
    let isWhole = true;
    // A loop over a set also visits what is added during the loop.
    for (const each of line) {
      const known = this.#whole.get(each);
      const key = this.#byId.get(each);
      if (key === undefined) this.#missing.add(each);
      isWhole &&= known ?? key !== undefined;
      if (known === undefined && key !== undefined) for (const above of keysAbove(key)) line.add(above);
    }
    for (const each of isWhole ? line : [id]) this.#whole.set(each, isWhole);
    return isWhole;
  }

  #forgetDescents(): void {
    this.#accounts.clear();
    this.#whole.clear();
  }

  /** The record of a presented key, if the key is genuine and in force. */
  recognise(key: string): ApiKeyRecord | undefined {
    const parsed = parseApiKey(key);
    const record = parsed.ok ? this.#byId.get(parsed.id) : undefined;
    if (record === undefined || !equalInConstantTime(this.#sha256(key), record.hash)) return undefined;
    if (!this.isWhole(record.id)) throw outOfService();
    return this.isInForce(record.id) ? record : undefined;
  }

  isInForce(id: string): boolean {
    const key = this.#byId.get(id);
    if (key === undefined || key.revokedAt !== null || !this.isWhole(id)) return false;
    return key.expiresAt === null || this.#clock.now() < key.expiresAt;
  }

  /** Notes that a key was used. The note reaches the store later, not at every call. */
  noteUse(id: string): void {
    if (this.#byId.has(id)) this.#used.set(id, this.#clock.now());
  }

  /** The uses that are to be written. */
  unwritten(): { readonly id: string; readonly at: EpochMs }[] {
    return [...this.#used].map(([id, at]) => ({ id, at }));
  }

  /** A use is written. Only a later one is still to be. */
  written(id: string, at: EpochMs): Undo {
    const key = this.#byId.get(id);
    const noted = this.#used.get(id);
    const after = key && usedSince(key, at);
    if (after !== undefined) this.#byId.set(id, after);
    if (noted !== undefined && noted <= at) this.#used.delete(id);
    return () => {
      if (key !== undefined && this.#byId.get(id) === after) this.#byId.set(id, key);
      if (noted !== undefined && !this.#used.has(id)) this.#used.set(id, noted);
    };
  }
}

function usedSince(key: ApiKeyRecord, at: EpochMs): ApiKeyRecord {
  return { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? 0, at) };
}

/** Only whoever has the key hears this. */
function outOfService(): ReeveError {
  const why = 'the gateway could not read all that is stored of the keys that it comes from';
  return new ReeveError('store_unavailable', `the credential is out of service: ${why}`);
}
