import { ReeveInvalidRequest } from './errors.ts';

/** Names an operation: `<traceId>:<spanId>`. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

const pattern = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * The ids of an operation, generated if not given. They exist before the first attempt. So a retry after a lost answer
 * asks about the same operation and never creates a second one.
 */
export function traceIds(given: { readonly [Id in keyof TraceIds]?: string | undefined }): TraceIds {
  const { traceId = randomHex(16), spanId = randomHex(8) } = given;
  requireId('traceId', traceId);
  requireId('spanId', spanId);
  return { traceId, spanId };
}

export function opIdOf({ traceId, spanId }: TraceIds): string {
  return `${traceId}:${spanId}`;
}

function requireId(member: string, id: string): void {
  if (pattern.test(id)) return;
  throw new ReeveInvalidRequest(`${member}: must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-"`);
}

const poolBytes = 4096;
const pool = Buffer.alloc(poolBytes);
let used = poolBytes;

/**
 * Random bytes in hex, of cryptographic quality. They are drawn many at a time: for each check alone, drawing would cost
 * more than encoding it. Nothing is used twice.
 */
function randomHex(bytes: number): string {
  if (used + bytes > poolBytes) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  pool.fill(0, used, used + bytes);
  used += bytes;
  return text;
}
