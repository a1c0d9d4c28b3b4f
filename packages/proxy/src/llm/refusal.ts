/** Why a call is not answered by the upstream. A code has its status, and its type in the words of each provider. */
const forms = {
  policy_denied: { status: 403, openai: 'permission_error', anthropic: 'permission_error' },
  approval_pending: { status: 403, openai: 'permission_error', anthropic: 'permission_error' },
  operation_terminated: { status: 403, openai: 'permission_error', anthropic: 'permission_error' },
  budget_exceeded: { status: 429, openai: 'rate_limit_error', anthropic: 'rate_limit_error' },
  too_many_calls: { status: 429, openai: 'rate_limit_error', anthropic: 'rate_limit_error' },
  invalid_api_key: { status: 401, openai: 'authentication_error', anthropic: 'authentication_error' },
  invalid_request: { status: 400, openai: 'invalid_request_error', anthropic: 'invalid_request_error' },
  request_too_large: { status: 413, openai: 'invalid_request_error', anthropic: 'request_too_large' },
  misdirected_request: { status: 421, openai: 'invalid_request_error', anthropic: 'invalid_request_error' },
  model_not_found: { status: 404, openai: 'invalid_request_error', anthropic: 'not_found_error' },
  unknown_url: { status: 404, openai: 'invalid_request_error', anthropic: 'not_found_error' },
  method_not_allowed: { status: 405, openai: 'invalid_request_error', anthropic: 'invalid_request_error' },
  gateway_unavailable: { status: 503, openai: 'server_error', anthropic: 'api_error' },
  overloaded: { status: 503, openai: 'server_error', anthropic: 'overloaded_error' },
  upstream_unavailable: { status: 502, openai: 'server_error', anthropic: 'api_error' },
  upstream_timeout: { status: 504, openai: 'server_error', anthropic: 'timeout_error' },
  internal_error: { status: 500, openai: 'server_error', anthropic: 'api_error' },
} as const;

export type RefusalCode = keyof typeof forms;

export type ProviderKind = 'openai' | 'anthropic';

const longestMessage = 2048;

/** The call does not happen, or ends here. The message is for the person who reads the error of their client. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** The operation that was refused, if there is one. */
  readonly opId: string;

  constructor(code: RefusalCode, message: string, opId = '') {
    super(message.slice(0, longestMessage));
    this.name = 'Refusal';
    this.code = code;
    this.opId = opId;
  }

  get status(): number {
    return forms[this.code].status;
  }

  /** In how many seconds there may be room again. */
  get retryAfter(): number | undefined {
    return this.code === 'too_many_calls' || this.code === 'overloaded' ? 1 : undefined;
  }

  /** A client that tries again on its own would only be refused again. */
  get isFinal(): boolean {
    return this.code === 'budget_exceeded';
  }
}

/** The error as the provider writes it, so that its client raises its own error. */
export function errorBodyOf(kind: ProviderKind, refusal: Refusal): Readonly<Record<string, unknown>> {
  const { code, message } = refusal;
  const type = forms[code][kind];
  if (kind === 'openai') return { error: { message, type, param: null, code } };
  return { type: 'error', error: { type, message, code, details: { error_code: code } } };
}
