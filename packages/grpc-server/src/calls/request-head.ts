import type { StreamHandler, UnaryHandler } from '../handlers.ts';
import type { FieldList } from '../hpack/decoder.ts';
import type { Field } from '../hpack/field.ts';
import { Metadata } from '../metadata.ts';
import { statusCode } from '../status.ts';
import type { Meaning } from './field-rules.ts';
import { meaningOf } from './field-rules.ts';
import { trailerBlock } from './response-blocks.ts';
import { timeoutOf } from './timeout.ts';

/** How much of an unknown path an answer repeats. */
const longestNamed = 100;

export interface Routes {
  readonly unary: ReadonlyMap<string, UnaryHandler>;
  readonly stream: ReadonlyMap<string, StreamHandler>;
}

/** The status of HTTP for a request that is not gRPC. What its answer holds depends on the method. */
export interface Refusal {
  readonly status: number;
  readonly method: string;
}

/**
 * Why a request is not handled. A malformed one is a stream error (RFC 9113 §8.1.1); the others are answered, by a block
 * that is encoded once for all calls with the same head.
 */
export type HeadFault =
  | { readonly kind: 'malformed' }
  | { readonly kind: 'http'; readonly refusal: Refusal }
  | { readonly kind: 'grpc'; readonly block: Buffer };

/** A decoded request head. It never changes, and all calls with the same header block share it. */
export interface RequestHead {
  readonly path: string;
  readonly metadata: Metadata;
  /** As SETTINGS_MAX_HEADER_LIST_SIZE counts it. */
  readonly size: number;
  readonly timeoutMs: number | undefined;
  /** The declared length of the body; -1 if there is none. */
  readonly contentLength: number;
  readonly fault: HeadFault | undefined;
  readonly unary: UnaryHandler | undefined;
  readonly stream: StreamHandler | undefined;
}

/** The fields that a request says something by, each at most once. */
type Said = Partial<Record<Exclude<Meaning, 'metadata' | 'malformed'>, string>>;

export function requestHeadOf(list: FieldList, routes: Routes): RequestHead {
  const said = read(list.fields);
  const path = said?.[':path'] ?? '';
  const unary = routes.unary.get(path);
  const stream = unary === undefined ? routes.stream.get(path) : undefined;
  const timeoutMs = timeoutOf(said?.['grpc-timeout']);
  return {
    path,
    metadata: new Metadata(list.fields),
    size: list.size,
    timeoutMs: Number.isNaN(timeoutMs) ? undefined : timeoutMs,
    contentLength: Number(said?.['content-length'] ?? -1),
    fault: list.isTooLarge
      ? tooLarge(list.size)
      : faultOf(said, unary !== undefined || stream !== undefined, Number.isNaN(timeoutMs)),
    unary,
    stream,
  };
}

/** Whether trailers of a client are well formed: they carry no pseudo-header fields (RFC 9113 §8.1). */
export function areTrailers({ fields }: FieldList): boolean {
  return fields.every((field) => meaningOf(field) !== 'malformed' && !field.name.startsWith(':'));
}

/** Undefined if the fields are malformed: one of them, their order, or what comes twice (RFC 9113 §8.3). */
function read(fields: readonly Field[]): Said | undefined {
  const said: Said = {};
  let isPastPseudo = false;
  for (const field of fields) {
    const meaning = meaningOf(field);
    const isPseudo = field.name.startsWith(':');
    if (meaning === 'malformed' || (isPseudo && isPastPseudo)) return undefined;
    isPastPseudo ||= !isPseudo;
    if (meaning === 'metadata' || meaning === 'te') continue;
    if (said[meaning] !== undefined) return undefined;
    said[meaning] = field.value;
  }
  return said;
}

function faultOf(said: Said | undefined, isRouted: boolean, isTimeoutBad: boolean): HeadFault | undefined {
  if (said === undefined || !/^\d{1,15}$/.test(said['content-length'] ?? '0')) return { kind: 'malformed' };
  const method = said[':method'] ?? '';
  if (method === 'CONNECT') return http(405, method);
  if (method === '' || (said[':scheme'] ?? '') === '' || (said[':path'] ?? '') === '') return { kind: 'malformed' };
  if (method !== 'POST') return http(405, method);
  if (!isGrpc(said['content-type'])) return http(415, method);
  if (!isRouted)
    return grpc(statusCode.unimplemented, `there is no method ${(said[':path'] ?? '').slice(0, longestNamed)}`);
  if (isTimeoutBad) return grpc(statusCode.internal, 'grpc-timeout is not up to eight digits and a unit');
  return undefined;
}

function tooLarge(size: number): HeadFault {
  return grpc(statusCode.resourceExhausted, `the metadata of the request takes ${size} bytes, which is too much`);
}

function grpc(code: number, message: string): HeadFault {
  return { kind: 'grpc', block: trailerBlock({ code, message }, false, undefined, undefined) };
}

function http(status: number, method: string): HeadFault {
  return { kind: 'http', refusal: { status, method } };
}

function isGrpc(contentType: string | undefined): boolean {
  if (contentType === 'application/grpc') return true;
  return contentType !== undefined && /^application\/grpc[+;]/.test(contentType);
}
