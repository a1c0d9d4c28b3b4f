import type { Role } from './principal.ts';

/** An account that stands behind a caller, as rules about people see it. */
export interface KnownAccount {
  readonly id: string;
  readonly role: Role;
  readonly email: string;
  /** The people of single sign-ons that it is linked to. */
  readonly identities: readonly { readonly issuer: string; readonly subject: string }[];
}

/** Reads accounts. One that is not there, or not active, is missing in the answer. */
export type FindAccounts = (accountIds: readonly string[]) => Promise<readonly KnownAccount[]>;

/** Two emails that may be one mailbox have the same key: it ignores case and how characters are composed. */
export function emailKeyOf(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}

/** The email with its ASCII letters small. What is alike in this form is one address for certain. */
export function plainEmail(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
