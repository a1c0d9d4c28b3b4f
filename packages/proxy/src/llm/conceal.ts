/**
 * The bytes without a secret: an upstream that repeats its key in an answer does not give it away. Stars of the same
 * length take its place, so that lengths stay true.
 */
export function conceal(bytes: Buffer, secret: string | undefined): Buffer {
  if (secret === undefined || !bytes.includes(secret)) return bytes;
  const concealed = Buffer.from(bytes);
  const length = Buffer.byteLength(secret);
  for (let at = concealed.indexOf(secret); at >= 0; at = concealed.indexOf(secret, at + length)) {
    concealed.fill('*', at, at + length);
  }
  return concealed;
}
