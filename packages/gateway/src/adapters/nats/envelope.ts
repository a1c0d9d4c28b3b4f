import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Around each payload: version (1 byte), sender (16), counter (8), the encrypted payload, tag (16). Encrypted and
 * authenticated by AES-256-GCM.
 */
const version = 1;
const senderBytes = 16;
const headBytes = 1 + senderBytes + 8;
const tagBytes = 16;
const algorithm = 'aes-256-gcm';

/** How much longer a payload gets by its envelope. */
export const envelopeBytes = headBytes + tagBytes;

/** `foreign`: of another release, which may run beside this one. `refused`: forged, damaged, repeated or our own. */
export type Opened = { readonly payload: Uint8Array } | 'foreign' | 'refused';

/** The part of all subjects that tells one installation from another. It does not give the secret away. */
export function clusterOf(secret: Uint8Array): string {
  return createHmac('sha256', secret).update('reeve bus: cluster').digest('hex').slice(0, 16);
}

/** Puts payloads into envelopes, as one sender. */
export class Sealer {
  readonly sender: Buffer = randomBytes(senderBytes);
  readonly #key: KeyObject;
  #counter = 0n;

  constructor(secret: Uint8Array) {
    this.#key = keyOf(secret, this.sender);
  }

  seal(topic: string, payload: Uint8Array): Uint8Array {
    const head = Buffer.alloc(headBytes);
    head.writeUInt8(version);
    this.sender.copy(head, 1);
    head.writeBigUInt64BE(++this.#counter, 1 + senderBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonceOf(head)).setAAD(boundTo(topic));
    return Buffer.concat([head, cipher.update(payload), cipher.final(), cipher.getAuthTag()]);
  }
}

interface KnownSender {
  readonly key: KeyObject;
  newest: bigint;
}

/** Opens the envelopes of others. Each opens once, and none that is older than the newest one of its sender. */
export class Opener {
  readonly #secret: Uint8Array;
  readonly #own: string;
  /** Only those who know the secret get in here: one for each gateway, and for each of its restarts. */
  readonly #senders = new Map<string, KnownSender>();

  constructor(secret: Uint8Array, own: Buffer) {
    this.#secret = secret;
    this.#own = own.toString('hex');
  }

  open(topic: string, bytes: Uint8Array): Opened {
    const envelope = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (envelope.length > 0 && envelope[0] !== version) return 'foreign';
    if (envelope.length < envelopeBytes) return 'refused';
    const sender = envelope.subarray(1, 1 + senderBytes);
    const name = sender.toString('hex');
    const counter = envelope.readBigUInt64BE(1 + senderBytes);
    const known = this.#senders.get(name);
    if (name === this.#own || counter <= (known?.newest ?? 0n)) return 'refused';
    const key = known?.key ?? keyOf(this.#secret, sender);
    const payload = decrypt(envelope, key, topic);
    if (payload === undefined) return 'refused';
    if (known === undefined) this.#senders.set(name, { key, newest: counter });
    else known.newest = counter;
    return { payload };
  }
}

function decrypt(envelope: Buffer, key: KeyObject, topic: string): Uint8Array | undefined {
  const decipher = createDecipheriv(algorithm, key, nonceOf(envelope), { authTagLength: tagBytes })
    .setAAD(boundTo(topic))
    .setAuthTag(envelope.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(envelope.subarray(headBytes, -tagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/**
 * Each sender has its own key. The nonce has room for only 4 bytes of the sender: with one key for all, two senders
 * could meet in them, and a repeated nonce would give the key away.
 */
function keyOf(secret: Uint8Array, sender: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, sender, 'reeve bus: messages', 32)));
}

/** The last 4 bytes of the sender, and the counter. */
function nonceOf(envelope: Buffer): Buffer {
  return envelope.subarray(headBytes - 12, headBytes);
}

/** What else must be as it was when the payload was encrypted. */
function boundTo(topic: string): Buffer {
  return Buffer.from(`${String.fromCharCode(version)}${topic}`);
}
