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
