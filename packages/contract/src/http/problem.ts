import { z } from 'zod';

/** Every stable `code` of a problem, with the status that it comes with. */
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
  method_not_allowed: 405,
  request_timeout: 408,
  key_revoked: 409,
  token_in_use: 409,
  invalid_transition: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  accounts_unavailable: 503,
  store_unavailable: 503,
  shutting_down: 503,
} as const;

export type ProblemCode = keyof typeof problemStatus;

/** An error as RFC 9457 shows it, with the code that programs go by. */
export const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.enum(Object.keys(problemStatus) as [ProblemCode, ...ProblemCode[]]),
  required_scope: z.enum(['read', 'write', 'admin']).optional(),
  state: z.string().optional(),
  allowed: z.array(z.string()).optional(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
});

export type Problem = z.infer<typeof problemSchema>;
