import type { FieldList } from '../hpack/decoder.ts';
import type { Status } from '../status.ts';
import { decodeMessage, statusCode } from '../status.ts';
import { Metadata } from '../metadata.ts';

export type HeadFault = 'too large' | 'malformed' | 'not of gRPC';

/** A header block of a server: the head of an answer, its trailers, or both in one. Calls with the same bytes share it. */
export interface AnswerHead {
  /** Undefined in trailers. */
  readonly httpStatus: number | undefined;
  /** Undefined unless the block says `grpc-status`. */
  readonly status: Status | undefined;
  readonly metadata: Metadata;
  readonly fault: HeadFault | undefined;
}

export function answerHeadOf({ fields, isTooLarge }: FieldList): AnswerHead {
  let httpStatus: number | undefined;
  let code: number | undefined;
  let message = '';
  let contentType = '';
  let isMalformed = false;
  let isPastPseudo = false;
  for (const { name, value } of fields) {
    if (name.startsWith(':')) {
      // RFC 9113 §8.3.2: `:status` is the only one, comes first and once.
      isMalformed ||= name !== ':status' || isPastPseudo || httpStatus !== undefined || !/^\d{3}$/.test(value);
      httpStatus = Number(value);
      continue;
    }
    isPastPseudo = true;
    if (name === 'grpc-status') code = /^\d{1,9}$/.test(value) ? Number(value) : statusCode.unknown;
    else if (name === 'grpc-message') message = decodeMessage(value);
    else if (name === 'content-type') contentType = value;
  }
  return {
    httpStatus,
    status: code === undefined ? undefined : { code, message },
    metadata: new Metadata(fields),
    fault: isTooLarge
      ? 'too large'
      : isMalformed
        ? 'malformed'
        : httpStatus === 200 && code === undefined && !contentType.startsWith('application/grpc')
          ? 'not of gRPC'
          : undefined,
  };
}
