import type { ErrorCode } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import type { RpcStatus } from './rpc.ts';

export const grpcCode = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  failedPrecondition: 9,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** How each error of the core shows in gRPC. */
const codes: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: grpcCode.invalidArgument,
  unauthenticated: grpcCode.unauthenticated,
  insufficient_scope: grpcCode.permissionDenied,
  outside_tenant: grpcCode.permissionDenied,
  token_in_use: grpcCode.alreadyExists,
  tenant_bound: grpcCode.permissionDenied,
  key_not_found: grpcCode.notFound,
  key_revoked: grpcCode.failedPrecondition,
  agent_not_found: grpcCode.notFound,
  team_not_found: grpcCode.notFound,
  op_not_found: grpcCode.notFound,
  invalid_transition: grpcCode.failedPrecondition,
  store_unavailable: grpcCode.unavailable,
  shutting_down: grpcCode.unavailable,
};

/** The status of a failed call. What nobody foresaw is reported to `onUnexpected` and tells the caller nothing. */
export function statusOf(error: unknown, onUnexpected: (error: unknown) => void): RpcStatus {
  if (error instanceof ReeveError) return { code: codes[error.code], message: error.message };
  if (error instanceof RpcError) return { code: error.code, message: error.message };
  onUnexpected(error);
  return { code: grpcCode.internal, message: 'internal error' };
}

/** A failure of the protocol itself, which the core knows nothing of. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}
