import { hkdfSync } from 'node:crypto';

/** A key for one purpose alone, by HKDF, of a key that serves several. */
export function subkeyOf(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
}
