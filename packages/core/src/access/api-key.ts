import type { Scope } from './principal.ts';
import type { EpochMs, Sha256, Randomness } from '../kernel/index.ts';

/** The stored record of a key, never the key itself. */
export interface ApiKeyRecord {
  readonly id: string;
  /** SHA-256 of the whole key. */
  readonly hash: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly orgId: string | null;
  readonly teamId: string | null;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs | null;
  readonly lastUsedAt: EpochMs | null;
  readonly revokedAt: EpochMs | null;
  /** Who made the key, also by rotating another one. Null if the gateway made it, or nobody recorded it. */
  readonly madeBy: Maker | null;
  /** The key that this one replaced. */
  readonly rotatedFrom: string | null;
}

/** The credential of a call: an account or an API key. A token counts as the key that it was made from. */
export interface Maker {
  readonly kind: 'account' | 'api_key';
  readonly id: string;
}

/** The members that the creation of a key fixes. */
export type NewKey = Pick<
  ApiKeyRecord,
  'label' | 'scopes' | 'orgId' | 'teamId' | 'expiresAt' | 'madeBy' | 'rotatedFrom'
>;

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
const keyPattern = /^rvk_([a-z2-7]{12})_([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/;

export type ParsedApiKey =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly problem: string };

/** Recognises a key by its form and checksum. This catches a typo without a lookup. */
export function parseApiKey(text: string): ParsedApiKey {
  const match = keyPattern.exec(text);
  if (match === null) {
    return {
      ok: false,
      problem: 'an API key is "rvk_", 12 characters of a-z2-7, "_" and 46 of 0-9A-Za-z',
    };
  }
  const [, id = '', , checksum = ''] = match;
  if (checksum !== checksumOf(text.slice(0, -6))) {
    return { ok: false, problem: 'the checksum of the API key does not fit: a character is wrong' };
  }
  return { ok: true, id };
}

export function makeApiKey(randomness: Randomness): string {
  const body = `rvk_${pick(base32, 12, randomness)}_${pick(base62, 40, randomness)}`;
  return body + checksumOf(body);
}

export function newKeyRecord(key: string, sha256: Sha256, createdAt: EpochMs, made: NewKey): ApiKeyRecord {
  const parsed = parseApiKey(key);
  if (!parsed.ok) throw new TypeError(parsed.problem);
  return { id: parsed.id, hash: sha256(key), createdAt, lastUsedAt: null, revokedAt: null, ...made };
}

/** CRC-32 of the body in base62, most significant digit first, padded to six. */
export function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Draws characters without bias: it skips bytes beyond the last whole multiple of the alphabet size. */
function pick(alphabet: string, length: number, randomness: Randomness): string {
  const limit = 256 - (256 % alphabet.length);
  let result = '';
  while (result.length < length) {
    const bytes = randomness.hex(length);
    for (let i = 0; i < bytes.length && result.length < length; i += 2) {
      const byte = Number.parseInt(bytes.slice(i, i + 2), 16);
      if (byte < limit) result += alphabet.charAt(byte % alphabet.length);
    }
  }
  return result;
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** CRC-32 of an ASCII text, as in zlib. */
export function crc32(text: string): number {
  let rest = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    rest = (rest >>> 8) ^ (table[(rest ^ text.charCodeAt(i)) & 0xff] ?? 0);
  }
  return (rest ^ 0xffffffff) >>> 0;
}
