/** For whom an agent acts, as an entry of the log names it. */
export interface ProvenUser {
  readonly issuer: string;
  readonly sub: string;
  readonly email: string;
}

/** The user of an entry. Undefined if it names none. */
export function userOfPayload({ user }: Readonly<Record<string, unknown>>): ProvenUser | undefined {
  if (typeof user !== 'object' || user === null) return undefined;
  const { issuer, sub, email } = user as Readonly<Record<string, unknown>>;
  if (typeof issuer !== 'string' || typeof sub !== 'string' || typeof email !== 'string') return undefined;
  return { issuer, sub, email };
}
