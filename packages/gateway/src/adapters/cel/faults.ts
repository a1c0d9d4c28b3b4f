import { NotRecorded } from '@reeve/core';

/** Why an expression has no value for the facts at hand. Messages name types and members, never what an agent sent. */
export class Fault extends Error {
  override readonly name: string = 'ConditionFault';
}

/** The evaluation has cost what it may. Unlike other faults it is not outweighed by the other side of `||` or `&&`. */
export class LimitFault extends Fault {
  override readonly name = 'ConditionLimitFault';
}

/** Whether the other side of `||` or `&&`, or another element, may decide in spite of it. */
export function isOutweighable(error: unknown): error is Error {
  return (error instanceof Fault && !(error instanceof LimitFault)) || error instanceof NotRecorded;
}

/** Of two faults, the one to be told: the first, but that something is not known any more comes before all. */
export function weightier(first: Error | undefined, second: Error): Error {
  return first === undefined || (second instanceof NotRecorded && !(first instanceof NotRecorded)) ? second : first;
}

/** A fault is about a policy and a request, not about this code: without the stack it is made ten times faster. */
export function fault(message: string): Fault {
  return withoutStack(() => new Fault(message));
}

export function limitFault(message: string): LimitFault {
  return withoutStack(() => new LimitFault(message));
}

function withoutStack<Made extends Error>(make: () => Made): Made {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
