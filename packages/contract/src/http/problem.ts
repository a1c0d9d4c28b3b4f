import { z } from 'zod';

/** Every stable `code` of a problem, with its status. */
export const problemStatus = {
  bad_request: 400,
  malformed_json: 400,
  unauthenticated: 401,
  insufficient_scope: 403,
  tenant_bound: 403,
  not_found: 404,
  key_not_found: 404,
  agent_not_found: 404,
  team_not_found: 404,
  op_not_found: 404,
  control_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  key_revoked: 409,
  token_in_use: 409,
  agent_exists: 409,
  invalid_transition: 409,
  ambiguous_op: 409,
  idempotency_conflict: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  misdirected_request: 421,
  validation_failed: 422,
  upgrade_required: 426,
  weak_password: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  accounts_unavailable: 503,
  overloaded: 503,
  registration_closed: 403,
  wrong_credentials: 401,
  account_locked: 423,
  refresh_raced: 401,
  session_ended: 401,
  session_not_found: 404,
  account_required: 403,
  owner_required: 403,
  last_owner: 409,
  account_not_found: 404,
  invite_not_found: 404,
  invalid_token: 422,
  wrong_password: 403,
  email_taken: 409,
  cross_origin: 403,
  store_unavailable: 503,
  shutting_down: 503,
  approval_not_found: 404,
  already_decided: 409,
  own_approval: 403,
  own_agent: 403,
  imposed_by_wider: 403,
  grant_not_found: 404,
  policy_not_found: 404,
  policy_version_not_found: 404,
  policy_invalid: 422,
  policy_in_file: 409,
  policy_changed: 409,
  too_expensive: 422,
  decision_not_found: 404,
} as const;

export type ProblemCode = keyof typeof problemStatus;

/** An error in the form of RFC 9457, with the code that programs rely on. */
export const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.enum(Object.keys(problemStatus) as [ProblemCode, ...ProblemCode[]]),
  required_scope: z.enum(['read', 'write', 'admin']).optional(),
  /** The width of the credential that imposed what the caller may not lift. */
  imposed_by: z.enum(['team', 'org', 'unbound']).optional(),
  state: z.string().optional(),
  allowed: z.array(z.string()).optional(),
  candidates: z.array(z.string()).optional(),
  /** For a request: the JSON pointer and the fault. For a policy: file, line, column and the fault. */
  errors: z
    .array(
      z.object({
        pointer: z.string().optional(),
        detail: z.string().optional(),
        file: z.string().optional(),
        line: z.int().optional(),
        column: z.int().optional(),
        message: z.string().optional(),
      }),
    )
    .optional(),
});

export type Problem = z.infer<typeof problemSchema>;
