import { STATUS_CODES } from 'node:http';
import type { Problem, ProblemCode } from '@reeve/contract/http';
import { problemStatus } from '@reeve/contract/http';
import type { ErrorCode } from '@reeve/core';
import { ReeveError } from '@reeve/core';

/** A failure of HTTP itself, unknown to the core. */
export class HttpError extends Error {
  readonly code: ProblemCode;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    extras: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.name = 'HttpError';
    this.code = code;
    this.extras = extras;
    this.headers = headers;
  }
}

/** The HTTP problem of each error of the core. */
const codes: Readonly<Record<ErrorCode, ProblemCode>> = {
  invalid_argument: 'validation_failed',
  unauthenticated: 'unauthenticated',
  insufficient_scope: 'insufficient_scope',
  outside_tenant: 'tenant_bound',
  tenant_bound: 'tenant_bound',
  token_in_use: 'token_in_use',
  agent_exists: 'agent_exists',
  too_many_agents: 'too_many_agents',
  delegation_too_deep: 'delegation_too_deep',
  delegation_used_up: 'delegation_used_up',
  delegation_not_found: 'delegation_not_found',
  not_on_a_floor: 'not_on_a_floor',
  key_not_found: 'key_not_found',
  key_revoked: 'key_revoked',
  agent_not_found: 'agent_not_found',
  team_not_found: 'team_not_found',
  op_not_found: 'op_not_found',
  ambiguous_op: 'ambiguous_op',
  control_not_found: 'control_not_found',
  idempotency_conflict: 'idempotency_conflict',
  too_many_held_runs: 'too_many_held_runs',
  too_many_suspensions: 'too_many_suspensions',
  scope_not_found: 'scope_not_found',
  run_not_found: 'run_not_found',
  suspension_not_found: 'suspension_not_found',
  suspended: 'suspended',
  invalid_transition: 'invalid_transition',
  weak_password: 'weak_password',
  overloaded: 'overloaded',
  registration_closed: 'registration_closed',
  wrong_credentials: 'wrong_credentials',
  account_locked: 'account_locked',
  refresh_raced: 'refresh_raced',
  session_ended: 'session_ended',
  session_not_found: 'session_not_found',
  account_required: 'account_required',
  owner_required: 'owner_required',
  last_owner: 'last_owner',
  account_not_found: 'account_not_found',
  invite_not_found: 'invite_not_found',
  invalid_token: 'invalid_token',
  wrong_password: 'wrong_password',
  email_taken: 'email_taken',
  password_off: 'password_off',
  sign_on_off: 'sign_on_off',
  sign_on_failed: 'sign_on_failed',
  sign_on_unavailable: 'sign_on_unavailable',
  no_role: 'no_role',
  email_missing: 'email_missing',
  account_disabled: 'account_disabled',
  store_unavailable: 'store_unavailable',
  shutting_down: 'shutting_down',
  approval_not_found: 'approval_not_found',
  already_decided: 'already_decided',
  own_approval: 'own_approval',
  own_request: 'own_request',
  not_an_approver: 'not_an_approver',
  own_agent: 'own_agent',
  imposed_by_wider: 'imposed_by_wider',
  grant_not_found: 'grant_not_found',
  policy_not_found: 'policy_not_found',
  policy_version_not_found: 'policy_version_not_found',
  policy_invalid: 'policy_invalid',
  policy_in_file: 'policy_in_file',
  policy_changed: 'policy_changed',
  too_expensive: 'too_expensive',
  too_many_evaluations: 'rate_limited',
  decision_not_found: 'decision_not_found',
};

export interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

/** The problem of an error. Unexpected errors go to `onUnexpected` and tell the caller nothing. */
export function problemOf(error: unknown, instance: string, onUnexpected: (error: unknown) => void): ProblemAnswer {
  if (error instanceof HttpError) return answer(error.code, error.message, instance, error.extras, error.headers);
  if (error instanceof ReeveError) {
    return answer(codes[error.code], error.message, instance, factsOf(error), headersOf(error));
  }
  const framework = frameworkProblem(error);
  if (framework !== undefined) return answer(framework.code, framework.detail, instance);
  onUnexpected(error);
  return answer('internal', 'something went wrong here; the log of the gateway has the details', instance);
}

function answer(
  code: ProblemCode,
  detail: string,
  instance: string,
  extras: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): ProblemAnswer {
  const status = problemStatus[code];
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    instance,
    code,
    ...extras,
  };
  return { problem, headers: status === 401 ? { 'www-authenticate': 'Bearer', ...headers } : headers };
}

function factsOf(error: ReeveError): Readonly<Record<string, unknown>> {
  const { field, ...facts } = error.facts;
  if (typeof field !== 'string') return facts;
  const detail = error.message.replace(`${field}: `, '');
  return { ...facts, errors: [{ pointer: `/${field.replaceAll('.', '/')}`, detail }] };
}

/** When to try again, if the core knows it. */
function headersOf({ facts }: ReeveError): Readonly<Record<string, string>> {
  const seconds = facts['retry_after_secs'];
  return typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {};
}

/** Errors that Fastify and Node raise by themselves. */
function frameworkProblem(error: unknown): { code: ProblemCode; detail: string } | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  switch (status) {
    case 408:
      return { code: 'request_timeout', detail: 'the request took too long to arrive' };
    case 413:
      return { code: 'payload_too_large', detail: 'the body must be at most 1 MiB' };
    case 414:
      return { code: 'uri_too_long', detail: 'the path is too long' };
    case 415:
      return { code: 'unsupported_media_type', detail: 'the body must be application/json' };
    case 431:
      return { code: 'headers_too_large', detail: 'the headers are too large' };
    default:
      return typeof status === 'number' && status < 500
        ? { code: 'bad_request', detail: 'the request is malformed' }
        : undefined;
  }
}
