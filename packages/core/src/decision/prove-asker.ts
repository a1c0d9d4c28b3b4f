import type { CheckRequest } from '../action/index.ts';
import { admitToCheck } from '../tenancy/index.ts';
import type { Decisions } from './decisions.ts';
import { proveUser } from './prove-user.ts';

/**
 * Finds out who asks and for whom, before the turn of a check: both may show JWTs. Undefined if there is nothing to wait
 * for. What does not hold is told by the judgement. It fails only if nobody's check could be judged.
 */
export function proveAsker(gov: Decisions, request: CheckRequest): Promise<void> | undefined {
  const admitting = admitToCheck(gov, request.token, request.agentId);
  return admitting === undefined ? proveUser(gov, request) : admitting.then(() => proveUser(gov, request));
}
