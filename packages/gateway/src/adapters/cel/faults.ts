/** Why an expression has no value for the facts at hand. Messages name types and members, never what an agent sent. */
export class Fault extends Error {
  override readonly name: string = 'ConditionFault';
}

/** The evaluation has cost what it may. Unlike other faults it is not outweighed by the other side of `||` or `&&`. */
export class LimitFault extends Fault {
  override readonly name = 'ConditionLimitFault';
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
