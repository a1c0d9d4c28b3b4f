import type { Status } from '../status.ts';
import { statusCode } from '../status.ts';

/** What the engine itself says of a call that it ends. */
export const deadlineExceeded: Status = { code: statusCode.deadlineExceeded, message: 'the deadline has passed' };

export const stopping: Status = { code: statusCode.unavailable, message: 'the server stops' };

export const compressed: Status = {
  code: statusCode.unimplemented,
  message: 'this server takes no compressed messages: send them with grpc-encoding identity',
};

export const misflagged: Status = {
  code: statusCode.internal,
  message: 'a message says that it is compressed, but grpc-encoding does not say how: send it with compressed-flag 0',
};

/** Told by a status, and not by REFUSED_STREAM, which clients answer by trying again at once. */
export function tooManyCalls(most: number): Status {
  return {
    code: statusCode.resourceExhausted,
    message: `${most} calls of this account are open, which is the most at a time: end some, or open fewer`,
  };
}

export function tooLarge(length: number, most: number): Status {
  return {
    code: statusCode.resourceExhausted,
    message: `a message of ${length} bytes is over the limit of ${most} bytes`,
  };
}

/** Such a message is taken on a connection that has shown a credential. */
export function tooLargeYet(length: number, most: number): Status {
  return {
    code: statusCode.resourceExhausted,
    message: `a message of ${length} bytes is over the limit of ${most} bytes of a connection that has shown no valid credential: make a smaller call with one first`,
  };
}
