import { decodeJwt as decodeClaims, decodeProtectedHeader } from 'jose';

/** A JWT as it is written. Nothing of it is proven. */
export interface DecodedJwt {
  readonly alg: string;
  readonly kid: string | undefined;
  /** In lower case, without `application/`. Undefined if it says none. */
  readonly typ: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

let last: { readonly token: string; readonly decoded: DecodedJwt | undefined } | undefined;

/** Undefined if it is none. The verifiers of all entries look at the same token in turn, so the last one is remembered. */
export function decodeJwt(token: string): DecodedJwt | undefined {
  if (last?.token !== token) last = { token, decoded: decode(token) };
  return last.decoded;
}

function decode(token: string): DecodedJwt | undefined {
  try {
    const { alg, kid, typ, crit } = decodeProtectedHeader(token);
    const claims = decodeClaims(token);
    if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return undefined;
    if (typ !== undefined && typeof typ !== 'string') return undefined;
    // No extension is understood here, and a claim that is nested too deep cannot be looked at.
    if (crit !== undefined || isDeeperThan(claims, deepest)) return undefined;
    return { alg, kid, typ: typ?.toLowerCase().replace(/^application\//, ''), claims };
  } catch {
    return undefined;
  }
}

/** No issuer nests claims so deep. */
const deepest = 32;

function isDeeperThan(value: unknown, levels: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
