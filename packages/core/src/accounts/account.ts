import type { Binding, Maker, Role } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';

export type AccountStatus = 'active' | 'disabled';

/** The hash of an account without a password. No password matches it. */
export const noPassword = '';

/** How a session was opened. */
export const signIns = ['password', 'oidc'] as const;

export type SignIn = (typeof signIns)[number];

/** A person who may log in. An invite, or the provider of a single sign-on, may bind it to a tenant. */
export interface Account extends Binding {
  readonly id: string;
  /** As given. */
  readonly email: string;
  /** Emails are compared by this key. No two accounts share it. */
  readonly emailKey: string;
  readonly name: string;
  readonly role: Role;
  readonly status: AccountStatus;
  /** `noPassword` if the person signs in by single sign-on alone. */
  readonly passwordHash: string;
  readonly createdAt: EpochMs;
  readonly lastLoginAt: EpochMs | null;
}

/** A lasting login: one family of refresh tokens. Only the newest token works. */
export interface Session {
  /** The `sid` of its access tokens. Rotations keep it. */
  readonly id: string;
  readonly accountId: string;
  readonly via: SignIn;
  readonly rememberMe: boolean;
  readonly createdAt: EpochMs;
  readonly lastUsedAt: EpochMs;
  readonly expiresAt: EpochMs;
  readonly endedAt: EpochMs | null;
  readonly address: string;
  readonly userAgent: string;
}

/** A person as the provider of a single sign-on knows them, and the account that is theirs. */
export interface Identity {
  /** A hash of issuer and subject. */
  readonly id: string;
  readonly accountId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly linkedAt: EpochMs;
}

/** A refresh token, stored only as a hash. The store keeps used tokens to detect their reuse. */
export interface RefreshToken {
  readonly hash: string;
  readonly sessionId: string;
  readonly usedAt: EpochMs | null;
}

/** An invite, and the tenant that the account will be bound to. */
export interface Invite extends Binding {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly role: Role;
  readonly invitedBy: string;
  /** The credential that made the invite. Null if nobody recorded it. */
  readonly madeBy: Maker | null;
  /** An owner made the invite, so it may also bring an owner's account back. */
  readonly asOwner: boolean;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs;
}

export const sentPurposes = ['invite', 'reset', 'cli'] as const;

export type SentPurpose = (typeof sentPurposes)[number];

/**
 * A token that was sent to somebody, and what it opens. An invite may have several: one shown to the admin, one mailed.
 */
export interface SentToken {
  readonly hash: string;
  readonly purpose: SentPurpose;
  /** The invite, the account, or the session that let a command line in. */
  readonly subjectId: string;
  readonly expiresAt: EpochMs;
}

/** Failed logins under one email, with or without an account. The store knows only a hash of the email key. */
export interface Attempts {
  readonly emailHash: string;
  readonly count: number;
  readonly lockedUntil: EpochMs | null;
  readonly updatedAt: EpochMs;
}

/** A letter to be sent. It holds no token: delivery makes the token. */
export interface QueuedLetter {
  readonly id: string;
  readonly kind: 'invite' | 'reset';
  /** The invite or the account. */
  readonly subjectId: string;
  readonly createdAt: EpochMs;
  readonly dueAt: EpochMs;
  readonly failures: number;
}
