import { keyFault } from '@reeve/contract/key-fault';
import { ReeveInvalidRequest } from './errors.ts';

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
  if (keyFault(key) !== undefined) {
    throw new ReeveInvalidRequest('apiKey: the checksum does not fit: a character is wrong');
  }
  return key;
}
