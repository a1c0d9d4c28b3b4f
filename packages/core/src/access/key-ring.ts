import type { Clock } from '../kernel/clock.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Sha256 } from '../kernel/hash.ts';
import { equalInConstantTime } from '../kernel/hash.ts';
import type { ApiKeyRecord } from './api-key.ts';
import { parseApiKey } from './api-key.ts';
import type { Principal } from './principal.ts';

/** The API keys of the gateway, in memory, so that authenticating a call asks no database. */
export class KeyRing {
  readonly #clock: Clock;
  readonly #sha256: Sha256;
  readonly #byId = new Map<string, ApiKeyRecord>();

  constructor(clock: Clock, sha256: Sha256, keys: Iterable<ApiKeyRecord>) {
    this.#clock = clock;
    this.#sha256 = sha256;
    for (const key of keys) this.#byId.set(key.id, key);
  }

  get size(): number {
    return this.#byId.size;
  }

  find(id: string): ApiKeyRecord | undefined {
    return this.#byId.get(id);
  }

  put(key: ApiKeyRecord): void {
    this.#byId.set(key.id, key);
  }

  remove(id: string): void {
    this.#byId.delete(id);
  }

  /** The caller behind an `Authorization` value. What exactly was wrong is not told: it would help a guesser. */
  authenticate(authorization: string | undefined): Principal {
    const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (bearer === undefined) {
      throw new ReeveError('unauthenticated', 'this needs "authorization: Bearer <API key>"');
    }
    const parsed = parseApiKey(bearer);
    const key = parsed.ok ? this.#byId.get(parsed.id) : undefined;
    if (key === undefined || !equalInConstantTime(this.#sha256(bearer), key.hash) || !this.#isLive(key)) {
      throw new ReeveError('unauthenticated', 'the credential is not valid');
    }
    return {
      actor: { id: key.id, kind: 'api_key', label: key.label },
      scopes: key.scopes,
      orgId: key.orgId,
      teamId: key.teamId,
    };
  }

  #isLive(key: ApiKeyRecord): boolean {
    return key.revokedAt === null && (key.expiresAt === null || this.#clock.now() < key.expiresAt);
  }
}
