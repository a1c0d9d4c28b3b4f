import type { Problem } from '@reeve/contract/http';

/** A fault of one member of a request, or at one position of a document. */
export interface ApiFault {
  readonly pointer?: string;
  readonly detail?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly message?: string;
}

/** A failed call: a problem of the gateway, or no answer at all (`status` 0, code `unreachable`). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requiredScope: string | undefined;
  readonly errors: readonly ApiFault[];
  /** When a retry is allowed, in milliseconds of this computer's clock, if the gateway said so. */
  readonly retryAt: number | undefined;
  /** The whole answer, for members that only some problems have. */
  readonly problem: Partial<Problem> & Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Partial<Problem> & Readonly<Record<string, unknown>>, retryAfterSecs?: number) {
    const detail = problem.detail ?? `the gateway answered with status ${status}`;
    super(detail);
    this.status = status;
    this.code = problem.code ?? 'unknown';
    this.detail = detail;
    this.requiredScope = problem.required_scope;
    this.errors = Array.isArray(problem.errors) ? (problem.errors as readonly ApiFault[]) : [];
    this.retryAt = retryAfterSecs === undefined ? undefined : Date.now() + retryAfterSecs * 1000;
    this.problem = problem;
  }

  /** The fault of one form field, by the name of the body member. */
  fault(member: string): string | undefined {
    return this.errors.find(({ pointer }) => pointer === `/${member}`)?.detail;
  }
}

/** No answer came: the network or the gateway is away. */
export function unreachable(cause: unknown): ApiError {
  const error = new ApiError(0, {
    detail: 'The gateway does not answer. Check that it is running and that you are connected to it.',
  });
  return Object.assign(error, { code: 'unreachable', cause });
}

/** The message for a person about anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return sentence(error.detail);
  return error instanceof Error ? sentence(error.message) : 'Something went wrong.';
}

/** The gateway's texts begin in lower case, as its logs do. A page shows sentences. */
function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}
