import type { Json } from '../audit/index.ts';
import { canonicalJson, redactText } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { rememberingOf } from '../kernel/index.ts';

/** The person or service for whom an agent acts, as an issuer vouches. */
export interface User {
  readonly issuer: string;
  readonly sub: string;
  /** Empty if the issuer names none, or has not verified it. */
  readonly email: string;
  readonly groups: readonly string[];
  /** Everything that the token says. */
  readonly claims: Readonly<Record<string, Json>>;
}

/** A user that somebody supposes. What is left out is as if the token did not say it; a user always has a `sub`. */
export function userFrom(said: { readonly [Name in keyof User]?: User[Name] | undefined }): User {
  const { issuer = 'https://issuer.example', email = '', groups = [], claims = {} } = said;
  return { issuer, sub: said.sub ?? (email === '' ? 'somebody' : email), email, groups, claims };
}

/** Who a user is. This is all that is kept. */
export type UserId = Pick<User, 'issuer' | 'sub' | 'email'>;

/** For whom a check is made. One whose token does not verify is denied. */
export type Subject =
  | { readonly proven: true; readonly user: User /** Leeway included. */; readonly until: EpochMs }
  | { readonly proven: false; readonly why: string };

/** Who the user is, as logs and approvals keep it. Users come again with every check of a token that is known. */
export const keptUser = rememberingOf(({ issuer, sub, email }: UserId): UserId => {
  return { email: redactText(email), issuer: redactText(issuer), sub: redactText(sub) };
});

/** The same as entries of the log write it. */
export const describeUser = rememberingOf((user: UserId) => canonicalJson({ ...keptUser(user) }));

/** What distinguishes users. An email may change, and a token is renewed, and it is the same user. */
export function userKey({ issuer, sub }: Pick<User, 'issuer' | 'sub'>): readonly [string, string] {
  return [issuer, sub];
}

/** The name of a user: the email, or else the subject. */
export function nameOfUser({ email, sub }: Pick<User, 'email' | 'sub'>): string {
  return email === '' ? sub : email;
}
