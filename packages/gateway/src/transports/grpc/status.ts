import type { ErrorCode } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import type { RpcStatus } from './rpc.ts';

export const grpcCode = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The gRPC status of each error of the core. */
const codes: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: grpcCode.invalidArgument,
  unauthenticated: grpcCode.unauthenticated,
  insufficient_scope: grpcCode.permissionDenied,
  outside_tenant: grpcCode.permissionDenied,
  token_in_use: grpcCode.alreadyExists,
  agent_exists: grpcCode.alreadyExists,
  too_many_agents: grpcCode.resourceExhausted,
  tenant_bound: grpcCode.permissionDenied,
  key_not_found: grpcCode.notFound,
  key_revoked: grpcCode.failedPrecondition,
  agent_not_found: grpcCode.notFound,
  team_not_found: grpcCode.notFound,
  op_not_found: grpcCode.notFound,
  ambiguous_op: grpcCode.failedPrecondition,
  control_not_found: grpcCode.notFound,
  invalid_transition: grpcCode.failedPrecondition,
  idempotency_conflict: grpcCode.failedPrecondition,
  too_many_held_runs: grpcCode.resourceExhausted,
  too_many_suspensions: grpcCode.resourceExhausted,
  scope_not_found: grpcCode.notFound,
  suspension_not_found: grpcCode.notFound,
  suspended: grpcCode.failedPrecondition,
  weak_password: grpcCode.invalidArgument,
  overloaded: grpcCode.unavailable,
  registration_closed: grpcCode.permissionDenied,
  wrong_credentials: grpcCode.unauthenticated,
  account_locked: grpcCode.permissionDenied,
  refresh_raced: grpcCode.unauthenticated,
  session_ended: grpcCode.unauthenticated,
  session_not_found: grpcCode.notFound,
  account_required: grpcCode.permissionDenied,
  owner_required: grpcCode.permissionDenied,
  last_owner: grpcCode.failedPrecondition,
  account_not_found: grpcCode.notFound,
  invite_not_found: grpcCode.notFound,
  invalid_token: grpcCode.invalidArgument,
  wrong_password: grpcCode.permissionDenied,
  email_taken: grpcCode.failedPrecondition,
  password_off: grpcCode.permissionDenied,
  sign_on_off: grpcCode.notFound,
  sign_on_failed: grpcCode.invalidArgument,
  sign_on_unavailable: grpcCode.unavailable,
  no_role: grpcCode.permissionDenied,
  email_missing: grpcCode.permissionDenied,
  account_disabled: grpcCode.permissionDenied,
  store_unavailable: grpcCode.unavailable,
  shutting_down: grpcCode.unavailable,
  approval_not_found: grpcCode.notFound,
  already_decided: grpcCode.failedPrecondition,
  own_approval: grpcCode.permissionDenied,
  own_agent: grpcCode.permissionDenied,
  imposed_by_wider: grpcCode.permissionDenied,
  grant_not_found: grpcCode.notFound,
  policy_not_found: grpcCode.notFound,
  policy_version_not_found: grpcCode.notFound,
  policy_invalid: grpcCode.invalidArgument,
  policy_in_file: grpcCode.failedPrecondition,
  policy_changed: grpcCode.failedPrecondition,
  too_expensive: grpcCode.invalidArgument,
  too_many_evaluations: grpcCode.resourceExhausted,
  decision_not_found: grpcCode.notFound,
};

/** The status of a failed call. Unexpected errors go to `onUnexpected` and tell the caller nothing. */
export function statusOf(error: unknown, onUnexpected: (error: unknown) => void): RpcStatus {
  if (error instanceof ReeveError) return { code: codes[error.code], message: error.message };
  if (error instanceof RpcError) return error;
  onUnexpected(error);
  return { code: grpcCode.internal, message: 'internal error' };
}

/** A failure of the protocol itself, unknown to the core. */
export class RpcError extends Error {
  readonly code: number;
  /** When to try again, if that helps. */
  readonly retryAfterMs: number | undefined;

  constructor(code: number, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What a credential hears that has used up its calls (`SVC_RATE_LIMIT_API_PER_MIN`). */
export function rateLimited(retryAfterSecs: number): RpcError {
  const message = `too many calls; try again in ${retryAfterSecs} seconds`;
  return new RpcError(grpcCode.resourceExhausted, message, retryAfterSecs * 1000);
}
