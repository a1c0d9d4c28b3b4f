import type { CheckRequest } from '../action/index.ts';
import type { ChangedMember } from '../policy/index.ts';

/** A call as rules have rewritten it. */
export interface RewrittenCall<Request = CheckRequest> {
  readonly request: Request;
  /** What was changed in its arguments, in order. */
  readonly changes: readonly ChangedMember[];
}
