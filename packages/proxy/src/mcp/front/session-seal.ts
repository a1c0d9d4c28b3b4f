import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { JsonObject } from '../protocol/written-json.ts';
import { isObject } from '../protocol/written-json.ts';
import type { UpstreamSession } from '../transport/upstream.ts';
import type { Caller } from './caller.ts';
import { subkeyOf } from './subkey.ts';

/** What any replica must know of a session to go on with it. */
export interface SealedSession {
  readonly id: string;
  readonly server: string;
  /** The digest of the agent and the person whose session it is. */
  readonly caller: string;
  readonly expiresAt: number;
  /** The session with a server over HTTP. */
  readonly upstream: UpstreamSession | undefined;
  /** What the client said of itself, for a server that must be started anew. */
  readonly hello: JsonObject | undefined;
}

/** The longest id that is looked at, and the longest that is given. */
const longestId = 8192;
const purpose = 'reeve mcp session 1';
const about = Buffer.from(purpose);
const [nonceBytes, tagBytes] = [12, 16];

/**
 * Session ids that hold the session, sealed by AES-256-GCM with a key that all replicas have. Nobody else can read, change
 * or make one. The first key seals, and all of them open, so that keys can be changed one replica after another.
 */
export class SessionSeal {
  readonly #keys: readonly Buffer[];

  constructor(keys: readonly Buffer[]) {
    this.#keys = keys.map((key) => subkeyOf(key, purpose));
  }

  /** Undefined if it is too long for a header. */
  seal(session: SealedSession): string | undefined {
    const [key] = this.#keys;
    if (key === undefined) throw new Error('there is no key');
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(about);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(session)), cipher.final()]);
    const id = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    return id.length > longestId ? undefined : id;
  }

  /** Undefined for what no replica has sealed, and for what is over. */
  open(id: string): SealedSession | undefined {
    if (id.length > longestId || !/^[A-Za-z0-9_-]+$/.test(id)) return undefined;
    const bytes = Buffer.from(id, 'base64url');
    if (bytes.length <= nonceBytes + tagBytes) return undefined;
    for (const key of this.#keys) {
      const session = openedWith(key, bytes);
      if (session !== undefined) return session.expiresAt > Date.now() ? session : undefined;
    }
    return undefined;
  }
}

function openedWith(key: Buffer, bytes: Buffer): SealedSession | undefined {
  const [nonce, tag] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes, nonceBytes + tagBytes)];
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  try {
    decipher.setAAD(about).setAuthTag(tag);
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString();
    const session: unknown = JSON.parse(text);
    return isObject(session) ? (session as unknown as SealedSession) : undefined;
  } catch {
    return undefined;
  }
}

export function digestOf({ key }: Caller): string {
  return createHash('sha256').update(key).digest('base64url');
}
