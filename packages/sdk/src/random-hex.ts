const poolBytes = 4096;
const pool = Buffer.alloc(poolBytes);
let used = poolBytes;

/**
 * Random bytes in hex, of cryptographic quality. They are drawn many at a time: for each check alone, drawing would cost
 * more than encoding it. Nothing is used twice.
 */
export function randomHex(bytes: number): string {
  if (used + bytes > poolBytes) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  pool.fill(0, used, used + bytes);
  used += bytes;
  return text;
}
