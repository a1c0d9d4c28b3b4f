import { statusCode } from '@reeve/grpc-server/client';
import type { ReeveError } from '../errors.ts';
import {
  ReeveInternal,
  ReeveInvalidRequest,
  ReeveInvalidTransition,
  ReeveOpNotFound,
  ReevePermissionDenied,
  ReeveResourceExhausted,
  ReeveTokenInUse,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from '../errors.ts';

type ErrorClass = new (message: string) => ReeveError;

/** The SDK error for each failure of gRPC. */
const errors: Readonly<Record<Exclude<keyof typeof statusCode, 'ok'>, ErrorClass>> = {
  // The SDK settles the calls that it cancels itself. So here the other side gave up: a forced shutdown, or a proxy.
  cancelled: ReeveUnavailable,
  unknown: ReeveInternal,
  invalidArgument: ReeveInvalidRequest,
  deadlineExceeded: ReeveUnavailable,
  notFound: ReeveOpNotFound,
  alreadyExists: ReeveTokenInUse,
  permissionDenied: ReevePermissionDenied,
  resourceExhausted: ReeveResourceExhausted,
  failedPrecondition: ReeveInvalidTransition,
  aborted: ReeveInternal,
  outOfRange: ReeveInvalidRequest,
  unimplemented: ReeveInternal,
  internal: ReeveInternal,
  unavailable: ReeveUnavailable,
  dataLoss: ReeveInternal,
  unauthenticated: ReeveUnauthenticated,
};

const errorsByCode: ReadonlyMap<number, ErrorClass> = new Map(
  Object.entries(errors).map(([name, error]) => [statusCode[name as keyof typeof statusCode], error]),
);

/** The error for a failed call. It takes over only the text and nothing else that the transport knows. */
export function errorOfStatus(code: number, details: string): ReeveError {
  const ErrorOfCode = errorsByCode.get(code) ?? ReeveInternal;
  if (ErrorOfCode === ReeveUnavailable || brokenTransport.test(details)) {
    return new ReeveUnavailable(tidy(details), !neverSent.test(details));
  }
  return new ErrorOfCode(tidy(details));
}

/** The transport reports a stream that was cut off as an internal error. */
const brokenTransport = /^Received RST_STREAM with code /;

/** How the transport says that there was no connection. Another wording would only cost a needless report. */
const neverSent = /^No connection established|^Channel closed before call started$/;

/** The client has left a gateway, and the call was still waiting for the connection. */
const leftBeforeSent = 'Channel closed before call started';

/** `No connection established. Last error: connect ECONNREFUSED …` has the cause at its end. */
function tidy(details: string): string {
  if (details === leftBeforeSent) return 'no connection in time';
  const [, cause] = /^No connection established\. Last error: (.+)$/s.exec(details) ?? [];
  return cause ?? (details === '' ? 'no reason given' : details);
}
