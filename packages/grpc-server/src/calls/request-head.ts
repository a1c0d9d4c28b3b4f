import type { StreamHandler, UnaryHandler } from '../handlers.ts';
import type { FieldList } from '../hpack/decoder.ts';
import { Metadata } from '../metadata.ts';
import type { Status } from '../status.ts';
import { statusCode } from '../status.ts';
import { faultOfFields, pseudoFieldsOf } from './field-rules.ts';

export interface Routes {
  readonly unary: ReadonlyMap<string, UnaryHandler>;
  readonly stream: ReadonlyMap<string, StreamHandler>;
}

/** Why a request is not handled. A malformed one is a stream error (RFC 9113 §8.1.1); the others are answered. */
export type HeadFault =
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'http'; readonly status: number; readonly reason: string }
  | { readonly kind: 'grpc'; readonly status: Status };

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

export function requestHeadOf(list: FieldList, routes: Routes): RequestHead {
  const metadata = new Metadata(list.fields);
  const { path } = pseudoFieldsOf(list.fields);
  const timeout = metadata.getAll('grpc-timeout')[0];
  const timeoutMs = timeout === undefined ? undefined : timeoutOf(timeout);
  const unary = routes.unary.get(path);
  const stream = routes.stream.get(path);
  const isRouted = unary !== undefined || stream !== undefined;
  return {
    path,
    metadata,
    size: list.size,
    timeoutMs: Number.isNaN(timeoutMs) ? undefined : timeoutMs,
    contentLength: Number(metadata.getAll('content-length')[0] ?? -1),
    fault: list.isTooLarge ? tooLarge(list.size) : faultOf(list, metadata, isRouted, Number.isNaN(timeoutMs)),
    unary,
    stream,
  };
}

/** The fault of trailers that a client sends: they carry no pseudo-header fields (RFC 9113 §8.1). */
export function faultOfTrailers(list: FieldList): string | undefined {
  if (list.fields.some(({ name }) => name.startsWith(':'))) return 'trailers carry a pseudo-header field';
  return faultOfFields(list.fields);
}

function tooLarge(size: number): HeadFault {
  return grpc(statusCode.resourceExhausted, `the metadata of the request takes ${size} bytes, which is too much`);
}

function faultOf(list: FieldList, metadata: Metadata, isRouted: boolean, isTimeoutBad: boolean): HeadFault | undefined {
  const { method, scheme, path } = pseudoFieldsOf(list.fields);
  const reason = faultOfFields(list.fields) ?? faultOfLength(metadata);
  if (reason !== undefined) return { kind: 'malformed', reason };
  if (method === 'CONNECT') return { kind: 'http', status: 405, reason: 'gRPC calls use POST' };
  if (method === '' || scheme === '' || path === '') {
    return { kind: 'malformed', reason: ':method, :scheme or :path is missing' };
  }
  if (method !== 'POST') return { kind: 'http', status: 405, reason: 'gRPC calls use POST' };
  if (!isGrpc(metadata.get('content-type'))) {
    return { kind: 'http', status: 415, reason: 'the content-type of gRPC calls is application/grpc' };
  }
  if (!isRouted) return grpc(statusCode.unimplemented, `there is no method ${path}`);
  const encoding = metadata.getAll('grpc-encoding')[0] ?? 'identity';
  if (encoding !== 'identity') return grpc(statusCode.unimplemented, compressedFault);
  if (isTimeoutBad) return grpc(statusCode.internal, 'grpc-timeout is not up to eight digits and a unit');
  return undefined;
}

export const compressedFault = 'compressed messages are not taken: send them with grpc-encoding identity';

function grpc(code: number, message: string): HeadFault {
  return { kind: 'grpc', status: { code, message } };
}

function isGrpc(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/grpc($|[+;])/.test(contentType);
}

function faultOfLength(metadata: Metadata): string | undefined {
  const lengths = metadata.getAll('content-length');
  if (lengths.length === 0 || (lengths.length === 1 && /^\d{1,15}$/.test(lengths[0] ?? ''))) return undefined;
  return 'content-length is not one number';
}

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** NaN if it is not a `grpc-timeout`. */
export function timeoutOf(value: string): number {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  return Number(digits) * (unitMs[unit] ?? Number.NaN);
}
