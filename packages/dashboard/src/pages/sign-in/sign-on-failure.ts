const failures: Readonly<Record<string, string>> = {
  no_role: 'You have no role on this gateway. Ask its administrators to give one to you or to one of your groups.',
  account_disabled: 'Your account on this gateway is disabled. Ask an administrator.',
  email_taken:
    'There is an account with your email on this gateway, and single sign-on may not take it over. Sign in as before, or ask an administrator.',
  email_missing:
    'The provider does not say what your email is, so there can be no account for you. Ask an administrator.',
  sign_on_unavailable: 'The provider of the single sign-on cannot be used now. Try again in a while.',
  sign_on_failed: 'The single sign-on did not come to its end, or took too long. Try again.',
  sign_on_off: 'This gateway has no single sign-on.',
  overloaded: 'Many people sign in at once. Try again.',
};

/** Why a single sign-on has failed. The code comes from the address, so anybody can have written it. */
export function signOnFailure(code: string): string {
  return Object.hasOwn(failures, code) ? (failures[code] ?? '') : 'The single sign-on has failed. Try again.';
}
