import { ApiError, messageOf } from '../../api/api-error.ts';

/** The reasons of refusals that pass by themselves. */
const waits: Readonly<Record<string, string>> = {
  account_locked: 'Too many failed sign-ins: this email is locked for a while, also for the right password.',
  rate_limited: 'Too many tries from your address.',
  overloaded: 'The gateway has many passwords to check at once.',
};

export interface Wait {
  readonly why: string;
  /** In milliseconds of this computer's clock. */
  readonly until: number;
}

/** Until when a retry is pointless, and why. Undefined if not known. */
export function waitOf(error: unknown): Wait | undefined {
  if (!(error instanceof ApiError) || error.retryAt === undefined) return undefined;
  return { why: waits[error.code] ?? messageOf(error), until: error.retryAt };
}

/** The gateway's objection to the chosen password. */
export function passwordRefusal(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.code !== 'weak_password') return undefined;
  const words = (error.fault('password') ?? error.detail).replace(/^password: /, '');
  return `The password ${words}.`;
}

/** The same for another member of the form. */
export function memberRefusal(error: unknown, member: string): string | undefined {
  return error instanceof ApiError && error.code === 'validation_failed' ? error.fault(member) : undefined;
}

/** Whether the form already shows the error beside a field. */
export function isShownAtField(error: unknown, members: readonly string[]): boolean {
  return passwordRefusal(error) !== undefined || members.some((member) => memberRefusal(error, member) !== undefined);
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}
