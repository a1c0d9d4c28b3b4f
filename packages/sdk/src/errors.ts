import type { Control } from './control.ts';

/** Every kind of error, by name. */
export type ReeveErrorCode =
  | 'unavailable'
  | 'unauthenticated'
  | 'permission_denied'
  | 'invalid_request'
  | 'token_in_use'
  | 'op_not_found'
  | 'invalid_transition'
  | 'resource_exhausted'
  | 'action_denied'
  | 'operation_terminated'
  | 'result_denied'
  | 'masked_error'
  | 'internal'
  | 'closed';

/** The base of every SDK error. Its message, stack and members never hold a token or an API key. */
export abstract class ReeveError extends Error {
  abstract readonly code: ReeveErrorCode;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The gateway gave no answer in time. It is unreachable, shutting down or too slow. */
export class ReeveUnavailable extends ReeveError {
  readonly code = 'unavailable';
  /** False if nothing was sent for certain, because there was no connection. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, mayHaveArrived = true) {
    super(message);
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** The API key is missing or not accepted, or another token has replaced the agent's. */
export class ReeveUnauthenticated extends ReeveError {
  readonly code = 'unauthenticated';
}

/** The credential is valid, but its scope or its tenant does not reach this far. */
export class ReevePermissionDenied extends ReeveError {
  readonly code = 'permission_denied';
}

/** The call is malformed. The message names the member and a correct value. */
export class ReeveInvalidRequest extends ReeveError {
  readonly code = 'invalid_request';
}

/** The token given at registration belongs to another agent, or only a new agent was to be registered and it is none. */
export class ReeveTokenInUse extends ReeveError {
  readonly code = 'token_in_use';
}

/** The agent has no such operation: it never existed, or it ended and was removed. */
export class ReeveOpNotFound extends ReeveError {
  readonly code = 'op_not_found';
}

/** The state of the operation does not allow this move. */
export class ReeveInvalidTransition extends ReeveError {
  readonly code = 'invalid_transition';
}

/** The gateway refuses for lack of room: a message too large, or a limit reached. */
export class ReeveResourceExhausted extends ReeveError {
  readonly code = 'resource_exhausted';
}

/** The gateway failed in an unforeseen way, or sent something that is not an answer. */
export class ReeveInternal extends ReeveError {
  readonly code = 'internal';
}

/** The client or the agent was closed. */
export class ReeveClosed extends ReeveError {
  readonly code = 'closed';

  constructor(what: 'client' | 'agent' = 'client') {
    super(`the ${what} is closed`);
  }
}

/**
 * The operation was terminated while the caller waited for it or ran it. The operation's signal has this error as its
 * reason. `checkpoint` throws it, and finally `run` does.
 */
export class OperationTerminatedError extends ReeveError {
  readonly code = 'operation_terminated';
  readonly opId: string;
  /** The reason, in the words of the person who terminated the operation. */
  readonly reason: string;
  /** `/api/v1/control/{id}` of the gateway shows who did. Empty if nobody did. */
  readonly controlId: string;
  /** The result, if the work returned one all the same. Not given where it would have to be judged. */
  readonly result: unknown;

  constructor({ opId, reason, controlId }: Pick<Control, 'opId' | 'reason' | 'controlId'>, end: Partial<WorkEnd> = {}) {
    super(`the operation ${opId} was terminated${reason === '' ? '' : `: ${reason}`}`);
    this.opId = opId;
    this.reason = reason;
    this.controlId = controlId;
    this.result = end.result;
    if (end.cause !== undefined) this.cause = end.cause;
  }
}

/** How the work ended after it was told to stop: with a result, or with its own error. */
interface WorkEnd {
  readonly result: unknown;
  readonly cause: unknown;
}
