import { crc32 } from 'node:zlib';
import { ReeveInvalidRequest } from './errors.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^rvk_[a-z2-7]{12}_[0-9A-Za-z]{46}$/;
const sendable = /^[\x21-\x7e]+$/;

/**
 * The API key, or another bearer credential, ready to send. Undefined if there is none. The checksum of a key reveals a
 * typo here, without a call. The value itself never enters an error.
 */
export function parseApiKey(text: string | undefined): string | undefined {
  const key = text?.trim() ?? '';
  if (key === '') return undefined;
  if (!sendable.test(key)) throw new ReeveInvalidRequest('apiKey: holds a character that cannot be sent');
  if (!key.startsWith('rvk_')) return key;
  if (!form.test(key)) {
    throw new ReeveInvalidRequest('apiKey: must be "rvk_", 12 characters of a-z2-7, "_" and 46 of 0-9A-Za-z');
  }
  if (checksumOf(key.slice(0, -6)) !== key.slice(-6)) {
    throw new ReeveInvalidRequest('apiKey: the checksum does not fit: a character is wrong');
  }
  return key;
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
