import { crc32 } from 'node:zlib';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^(rvk_[a-z2-7]{12}_[0-9A-Za-z]{40})([0-9A-Za-z]{6})$/;

/** What can be seen to be wrong with an API key without asking anybody; undefined where nothing can. */
export function keyFault(key: string): string | undefined {
  const [, body, checksum] = form.exec(key) ?? [];
  if (body === undefined) return 'It does not have the form of an API key, rvk_…; was it copied whole?';
  return checksum === base62(crc32(body)) ? undefined : 'Its checksum does not fit: there is a typing mistake in it.';
}

/** Six digits, the most significant first. */
function base62(value: number): string {
  let text = '';
  for (let rest = value; text.length < 6; rest = Math.floor(rest / 62)) text = `${digits[rest % 62]}${text}`;
  return text;
}
