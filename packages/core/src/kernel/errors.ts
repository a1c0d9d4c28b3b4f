/**
 * Everything that can go wrong, by code. Transports map each code outward with an exhaustive table, so a code
 * that is not mapped does not compile.
 */
export type ErrorCode =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'insufficient_scope'
  | 'outside_tenant'
  | 'token_in_use'
  | 'agent_exists'
  | 'too_many_agents'
  | 'delegation_too_deep'
  | 'delegation_used_up'
  | 'delegation_not_found'
  | 'not_on_a_floor'
  | 'tenant_bound'
  | 'key_not_found'
  | 'key_revoked'
  | 'agent_not_found'
  | 'team_not_found'
  | 'op_not_found'
  | 'ambiguous_op'
  | 'control_not_found'
  | 'invalid_transition'
  | 'idempotency_conflict'
  | 'too_many_held_runs'
  | 'too_many_suspensions'
  | 'scope_not_found'
  | 'run_not_found'
  | 'suspension_not_found'
  | 'suspended'
  | 'weak_password'
  | 'overloaded'
  | 'registration_closed'
  | 'wrong_credentials'
  | 'account_locked'
  | 'refresh_raced'
  | 'session_ended'
  | 'session_not_found'
  | 'account_required'
  | 'owner_required'
  | 'last_owner'
  | 'account_not_found'
  | 'invite_not_found'
  | 'invalid_token'
  | 'wrong_password'
  | 'email_taken'
  | 'password_off'
  | 'sign_on_off'
  | 'sign_on_failed'
  | 'sign_on_unavailable'
  | 'no_role'
  | 'email_missing'
  | 'account_disabled'
  | 'store_unavailable'
  | 'shutting_down'
  | 'approval_not_found'
  | 'already_decided'
  | 'own_approval'
  | 'own_request'
  | 'not_an_approver'
  | 'own_agent'
  | 'imposed_by_wider'
  | 'grant_not_found'
  | 'policy_not_found'
  | 'policy_version_not_found'
  | 'policy_invalid'
  | 'policy_in_file'
  | 'policy_changed'
  | 'too_expensive'
  | 'too_many_evaluations'
  | 'decision_not_found';

export class ReeveError extends Error {
  readonly code: ErrorCode;
  /** Facts a client can act on, such as the state that made a transition invalid. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'ReeveError';
    this.code = code;
    this.facts = facts;
  }
}

export function invalid(field: string, problem: string): ReeveError {
  return new ReeveError('invalid_argument', `${field}: ${problem}`, { field });
}

/** The message of a caught value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

/** The message of a caught value, if it is one of ours. Those of the language quote what they could not read. */
export function unquoted(error: unknown): string {
  return error instanceof Error && error.constructor === Error ? error.message : 'it is not of its form';
}
