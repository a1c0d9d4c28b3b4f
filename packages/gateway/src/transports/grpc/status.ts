import type { ErrorCode } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import { statusCode } from '@reeve/grpc-server';
import type { RpcStatus } from './rpc.ts';

/** The gRPC status of each error of the core. */
const codes: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: statusCode.invalidArgument,
  unauthenticated: statusCode.unauthenticated,
  insufficient_scope: statusCode.permissionDenied,
  outside_tenant: statusCode.permissionDenied,
  token_in_use: statusCode.alreadyExists,
  agent_exists: statusCode.alreadyExists,
  too_many_agents: statusCode.resourceExhausted,
  delegation_too_deep: statusCode.failedPrecondition,
  delegation_used_up: statusCode.failedPrecondition,
  not_on_a_floor: statusCode.permissionDenied,
  delegation_not_found: statusCode.notFound,
  tenant_bound: statusCode.permissionDenied,
  key_not_found: statusCode.notFound,
  key_revoked: statusCode.failedPrecondition,
  agent_not_found: statusCode.notFound,
  team_not_found: statusCode.notFound,
  op_not_found: statusCode.notFound,
  ambiguous_op: statusCode.failedPrecondition,
  control_not_found: statusCode.notFound,
  invalid_transition: statusCode.failedPrecondition,
  idempotency_conflict: statusCode.failedPrecondition,
  too_many_held_runs: statusCode.resourceExhausted,
  too_many_suspensions: statusCode.resourceExhausted,
  scope_not_found: statusCode.notFound,
  run_not_found: statusCode.notFound,
  suspension_not_found: statusCode.notFound,
  suspended: statusCode.failedPrecondition,
  weak_password: statusCode.invalidArgument,
  overloaded: statusCode.unavailable,
  registration_closed: statusCode.permissionDenied,
  wrong_credentials: statusCode.unauthenticated,
  account_locked: statusCode.permissionDenied,
  refresh_raced: statusCode.unauthenticated,
  session_ended: statusCode.unauthenticated,
  session_not_found: statusCode.notFound,
  account_required: statusCode.permissionDenied,
  owner_required: statusCode.permissionDenied,
  last_owner: statusCode.failedPrecondition,
  account_not_found: statusCode.notFound,
  invite_not_found: statusCode.notFound,
  invalid_token: statusCode.invalidArgument,
  wrong_password: statusCode.permissionDenied,
  email_taken: statusCode.failedPrecondition,
  password_off: statusCode.permissionDenied,
  sign_on_off: statusCode.notFound,
  sign_on_failed: statusCode.invalidArgument,
  sign_on_unavailable: statusCode.unavailable,
  no_role: statusCode.permissionDenied,
  email_missing: statusCode.permissionDenied,
  account_disabled: statusCode.permissionDenied,
  store_unavailable: statusCode.unavailable,
  shutting_down: statusCode.unavailable,
  approval_not_found: statusCode.notFound,
  already_decided: statusCode.failedPrecondition,
  own_approval: statusCode.permissionDenied,
  own_request: statusCode.permissionDenied,
  not_an_approver: statusCode.permissionDenied,
  own_agent: statusCode.permissionDenied,
  imposed_by_wider: statusCode.permissionDenied,
  grant_not_found: statusCode.notFound,
  policy_not_found: statusCode.notFound,
  policy_version_not_found: statusCode.notFound,
  policy_invalid: statusCode.invalidArgument,
  policy_in_file: statusCode.failedPrecondition,
  policy_changed: statusCode.failedPrecondition,
  too_expensive: statusCode.invalidArgument,
  too_many_evaluations: statusCode.resourceExhausted,
  decision_not_found: statusCode.notFound,
};

/** The status of a failed call. Unexpected errors go to `onUnexpected` and tell the caller nothing. */
export function statusOf(error: unknown, onUnexpected: (error: unknown) => void): RpcStatus {
  if (error instanceof ReeveError) return { code: codes[error.code], message: error.message };
  if (error instanceof RpcError) return error;
  onUnexpected(error);
  return { code: statusCode.internal, message: 'internal error' };
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
  return new RpcError(statusCode.resourceExhausted, message, retryAfterSecs * 1000);
}
