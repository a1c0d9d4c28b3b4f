import { status } from '@grpc/grpc-js';
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

type Failure = Exclude<status, status.OK>;

/** The SDK error for each failure of gRPC. */
const errors: Readonly<Record<Failure, new (message: string) => ReeveError>> = {
  // The SDK settles the calls that it cancels itself. So here the other side gave up: a forced shutdown, or a proxy.
  [status.CANCELLED]: ReeveUnavailable,
  [status.UNKNOWN]: ReeveInternal,
  [status.INVALID_ARGUMENT]: ReeveInvalidRequest,
  [status.DEADLINE_EXCEEDED]: ReeveUnavailable,
  [status.NOT_FOUND]: ReeveOpNotFound,
  [status.ALREADY_EXISTS]: ReeveTokenInUse,
  [status.PERMISSION_DENIED]: ReevePermissionDenied,
  [status.RESOURCE_EXHAUSTED]: ReeveResourceExhausted,
  [status.FAILED_PRECONDITION]: ReeveInvalidTransition,
  [status.ABORTED]: ReeveInternal,
  [status.OUT_OF_RANGE]: ReeveInvalidRequest,
  [status.UNIMPLEMENTED]: ReeveInternal,
  [status.INTERNAL]: ReeveInternal,
  [status.UNAVAILABLE]: ReeveUnavailable,
  [status.DATA_LOSS]: ReeveInternal,
  [status.UNAUTHENTICATED]: ReeveUnauthenticated,
};

/** The error for a failed call. It takes over only the text and nothing else that the library knows. */
export function errorOfStatus(code: number, details: string): ReeveError {
  const ErrorClass = isFailure(code) ? errors[code] : ReeveInternal;
  if (ErrorClass === ReeveUnavailable || brokenTransport.test(details)) {
    return new ReeveUnavailable(tidy(details), !neverSent.test(details));
  }
  return new ErrorClass(tidy(details));
}

/** The library reports a cut stream, such as by a killed process, as an internal error. */
const brokenTransport = /^Received RST_STREAM with code /;

/** How the library says that there was no connection. A changed wording only costs a needless report. */
const neverSent =
  /No connection established|Name resolution failed|Waiting for LB pick|waiting for name resolution|Channel closed before/;

/** The client has left a gateway, and the call was still waiting for the connection. */
const leftBeforeSent = 'Channel closed before call started';

function isFailure(code: number): code is Failure {
  return Object.hasOwn(errors, code);
}

/** `No connection established. Last error: Error: connect ECONNREFUSED …` has the cause at its end. */
function tidy(details: string): string {
  if (details === leftBeforeSent) return 'no connection in time';
  const [, cause] = /Last error: (?:Error: )?(.+?)\.? Resolution note:/s.exec(details) ?? [];
  return cause ?? (details === '' ? 'no reason given' : details);
}
