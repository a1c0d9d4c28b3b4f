const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^(rvk_[a-z2-7]{12}_[0-9A-Za-z]{40})([0-9A-Za-z]{6})$/;

/** The visible fault of an API key, found without a call. Undefined if there is none. */
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

/** CRC-32 of an ASCII text, as in zlib. Browsers do not have it. */
function crc32(text: string): number {
  let rest = 0xffffffff;
  for (let at = 0; at < text.length; at++) {
    rest ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return (rest ^ 0xffffffff) >>> 0;
}
