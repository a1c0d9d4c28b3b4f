import { encodeFields, neverIndexed } from '../hpack/encoder.ts';
import type { MetadataEntries } from '../metadata.ts';
import { metadataFields } from '../metadata.ts';

/** The header block of a request. The same block serves every call of its kind: only the timeout is written into it. */
export interface RequestHead {
  readonly block: Buffer;
  /** Where the digits of the timeout begin; -1 if there is none. */
  readonly timeoutAt: number;
}

/** Beyond so many methods, the heads of the others are made for each call. */
const mostKnown = 100;
const timeoutDigits = 8;
const longestMs = 10 ** timeoutDigits - 1;

/** Indexes of the static table (RFC 7541 Appendix A), as whole header fields. */
const methodPost = 0x83;
const schemeHttp = 0x86;
const schemeHttps = 0x87;

/** Makes the heads of the calls of one client. */
export class RequestHeads {
  readonly #pseudo: Buffer;
  readonly #rest: Buffer;
  readonly #known = new Map<string, RequestHead>();
  readonly #knownTimed = new Map<string, RequestHead>();

  constructor(authority: string, isSecure: boolean, userAgent: string) {
    this.#pseudo = Buffer.concat([
      Buffer.from([methodPost, isSecure ? schemeHttps : schemeHttp]),
      encodeFields([[':authority', authority]]),
    ]);
    this.#rest = encodeFields([
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['user-agent', userAgent],
    ]);
  }

  of(path: string, hasTimeout: boolean, metadata: MetadataEntries): RequestHead {
    if (metadata.length > 0) return this.#make(path, hasTimeout, metadata);
    const heads = hasTimeout ? this.#knownTimed : this.#known;
    const known = heads.get(path) ?? this.#make(path, hasTimeout, metadata);
    if (heads.size < mostKnown) heads.set(path, known);
    return known;
  }

  #make(path: string, hasTimeout: boolean, metadata: MetadataEntries): RequestHead {
    const parts = [
      this.#pseudo,
      encodeFields([[':path', path]]),
      this.#rest,
      // Metadata may hold credentials.
      encodeFields(metadataFields(metadata), neverIndexed),
    ];
    if (hasTimeout) parts.push(encodeFields([['grpc-timeout', '0'.repeat(timeoutDigits + 1)]]));
    const block = Buffer.concat(parts);
    return { block, timeoutAt: hasTimeout ? block.length - timeoutDigits - 1 : -1 };
  }
}

/** Writes a timeout of always the same length: eight digits, and milliseconds or seconds as their unit. */
export function writeTimeout(out: Uint8Array, at: number, ms: number): void {
  const isLong = ms > longestMs;
  let value = Math.min(longestMs, Math.ceil(isLong ? ms / 1000 : ms));
  out[at + timeoutDigits] = isLong ? 0x53 : 0x6d;
  for (let digit = timeoutDigits - 1; digit >= 0; digit--) {
    out[at + digit] = 0x30 + (value % 10);
    value = Math.floor(value / 10);
  }
}
