import type { Control } from './control.ts';

/** Everything that can go wrong, by name. */
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
  | 'internal'
  | 'closed';

/** What every error of the SDK is. No message, stack or member of it ever holds a token or an API key. */
export abstract class ReeveError extends Error {
  abstract readonly code: ReeveErrorCode;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The gateway gave no answer in time: it cannot be reached, is shutting down, or is too slow. */
export class ReeveUnavailable extends ReeveError {
  readonly code = 'unavailable';
  /** False where it is certain that nothing was sent, as there was no connection. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, mayHaveArrived = true) {
    super(message);
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** The API key is missing or not accepted, or the agent's token has been replaced. */
export class ReeveUnauthenticated extends ReeveError {
  readonly code = 'unauthenticated';
}

/** The credential is good, and does not reach this far: its scope or its tenant. */
export class ReevePermissionDenied extends ReeveError {
  readonly code = 'permission_denied';
}

/** The call is malformed. The message names the member and what would be right. */
export class ReeveInvalidRequest extends ReeveError {
  readonly code = 'invalid_request';
}

/** The token given at registration belongs to another agent. */
export class ReeveTokenInUse extends ReeveError {
  readonly code = 'token_in_use';
}

/** The agent has no such operation: it never had, or it is over and swept. */
export class ReeveOpNotFound extends ReeveError {
  readonly code = 'op_not_found';
}

/** The operation is in a state from which this move is not possible. */
export class ReeveInvalidTransition extends ReeveError {
  readonly code = 'invalid_transition';
}

/** The gateway refuses for lack of room: a message too large, or a limit reached. */
export class ReeveResourceExhausted extends ReeveError {
  readonly code = 'resource_exhausted';
}

/** The gateway failed in a way that nobody foresaw, or answered something that is no answer. */
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
 * The operation was terminated while it was waited for or carried out. It is the reason of the operation's signal, what
 * `checkpoint` throws, and what `run` throws in the end.
 */
export class OperationTerminatedError extends ReeveError {
  readonly code = 'operation_terminated';
  readonly opId: string;
  /** Why, in the words of whoever terminated it. */
  readonly reason: string;
  /** Who that was stands under `/api/v1/control/{id}` of the gateway. Empty where nobody did. */
  readonly controlId: string;
  /** What the work returned all the same, where it did. */
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

/** How work that was told to stop has ended: with a result, or with an error of its own. */
interface WorkEnd {
  readonly result: unknown;
  readonly cause: unknown;
}
