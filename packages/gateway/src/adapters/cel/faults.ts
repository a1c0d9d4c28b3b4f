import { UnknownFact } from '@reeve/core';

/** Why an expression has no value for the given facts. Messages name types and members, never what an agent sent. */
export class Fault extends Error {
  override readonly name: string = 'ConditionFault';
}

/**
 * The evaluation has reached its cost limit. Unlike other faults, the other side of `||` or `&&` does not outweigh it.
 */
export class LimitFault extends Fault {
  override readonly name = 'ConditionLimitFault';
}

/** Whether the other side of `||` or `&&`, or another element, may still decide. */
export function isOutweighable(error: unknown): error is Error {
  return (error instanceof Fault && !(error instanceof LimitFault)) || error instanceof UnknownFact;
}

/** Picks the fault to report: the first one, but an `UnknownFact` comes before all others. */
export function weightier(first: Error | undefined, second: Error): Error {
  return first === undefined || (second instanceof UnknownFact && !(first instanceof UnknownFact)) ? second : first;
}

/** A fault concerns a policy and a request, not this code. Without a stack it is made ten times faster. */
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
