import { messageOf, ReeveError } from '@reeve/core';

/** What went wrong at the provider, as the log shows it. No token, code or claim is among it. */
export interface Failure {
  readonly during: 'discovery' | 'exchange';
  readonly message: string;
  /** The code of the library, or of the system. */
  readonly code?: string;
  /** The error of the provider (RFC 6749, 5.2). */
  readonly error?: string;
}

const away = 'the provider of the single sign-on cannot be used now; try again in a while';

/** An error of the provider, for the log and for the person. */
export function explainFailure(
  error: unknown,
  during: Failure['during'],
): { readonly failure: Failure; readonly refusal: ReeveError } {
  if (error instanceof ReeveError) return { failure: { during, message: error.message }, refusal: error };
  const { code, error: said, status } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const named = errorName(said);
  const failure: Failure = {
    during,
    message: messageOf(causeOf(error)),
    ...(typeof code === 'string' ? { code } : {}),
    ...(named === undefined ? {} : { error: named }),
  };
  const isAway =
    during === 'discovery' || isOfNetwork(error) || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || Number(status) >= 500;
  if (isAway) return { failure, refusal: new ReeveError('sign_on_unavailable', away) };
  const why = named === undefined ? 'its answer does not hold' : `it answered ${named}`;
  return { failure, refusal: new ReeveError('sign_on_failed', `the single sign-on failed: ${why}; begin again`) };
}

/** The name of an error comes by the browser, so anybody can have written it. */
function errorName(said: unknown): string | undefined {
  return typeof said === 'string' && /^[a-z_]{1,64}$/.test(said) ? said : undefined;
}

/** A connection that failed, or took too long. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof TypeError || ['TimeoutError', 'AbortError'].includes(error.name) || isOfNetwork(error.cause);
}

/** The library wraps what the system said. */
function causeOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
}
