import type { Status } from '../status.ts';
import { statusCode } from '../status.ts';
import { errorCode } from '../http2/frame.ts';

export const cancelled: Status = { code: statusCode.cancelled, message: 'Cancelled on client' };
export const refused: Status = unavailable('Stream refused by server');
/** The client was closed while the call was waiting for a connection. */
export const neverStarted: Status = unavailable('Channel closed before call started');
export const deadlineExceeded: Status = { code: statusCode.deadlineExceeded, message: 'Deadline exceeded' };
/** The deadline passed while the call was waiting for a connection. */
export const neverConnected: Status = {
  code: statusCode.deadlineExceeded,
  message: 'No connection established in time',
};

export function unavailable(message: string): Status {
  return { code: statusCode.unavailable, message };
}

export function notConnected(why: string): Status {
  return unavailable(`No connection established. Last error: ${why}`);
}

/**
 * The status of a call that the server ended by RST_STREAM, after the table of gRPC over HTTP/2. A reset without an
 * error, and the end of a stream without a status, leave the call without an outcome.
 */
export function statusOfReset(code: number): Status {
  switch (code) {
    case errorCode.noError:
      return internal('Received RST_STREAM with code 0 (Call ended without gRPC status)');
    case errorCode.refusedStream:
      return refused;
    case errorCode.cancel:
      return { code: statusCode.cancelled, message: 'Call cancelled' };
    case errorCode.enhanceYourCalm:
      return { code: statusCode.resourceExhausted, message: 'Bandwidth exhausted or memory limit exceeded' };
    case errorCode.inadequateSecurity:
      return { code: statusCode.permissionDenied, message: 'Protocol not secure enough' };
    default:
      return internal(`Received RST_STREAM with code ${code}`);
  }
}

const statusOfHttp: ReadonlyMap<number, number> = new Map<number, number>([
  [400, statusCode.internal],
  [401, statusCode.unauthenticated],
  [403, statusCode.permissionDenied],
  [404, statusCode.unimplemented],
  [429, statusCode.unavailable],
  [502, statusCode.unavailable],
  [503, statusCode.unavailable],
  [504, statusCode.unavailable],
]);

/** The status of an answer without one of gRPC, as a proxy on the way may give it. */
export function statusOfAnswer(httpStatus: number): Status {
  if (httpStatus === 200) return statusOfReset(errorCode.noError);
  const code = statusOfHttp.get(httpStatus) ?? statusCode.unknown;
  return { code, message: `Received HTTP status code ${httpStatus}` };
}

function internal(message: string): Status {
  return { code: statusCode.internal, message };
}
