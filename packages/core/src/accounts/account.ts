import type { Maker, Role } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';

export type AccountStatus = 'active' | 'disabled';

/** A person who may log in. */
export interface Account {
  readonly id: string;
  /** As it was given. */
  readonly email: string;
  /** What emails are compared by; no two accounts share it. */
  readonly emailKey: string;
  readonly name: string;
  readonly role: Role;
  readonly status: AccountStatus;
  readonly passwordHash: string;
  readonly createdAt: EpochMs;
  readonly lastLoginAt: EpochMs | null;
}

/** A login that lasts: one family of refresh tokens, of which only the newest works. */
export interface Session {
  /** The `sid` of its access tokens; the same over all rotations. */
  readonly id: string;
  readonly accountId: string;
  readonly rememberMe: boolean;
  readonly createdAt: EpochMs;
  readonly lastUsedAt: EpochMs;
  readonly expiresAt: EpochMs;
  readonly endedAt: EpochMs | null;
  readonly address: string;
  readonly userAgent: string;
}

/** A refresh token, known by its hash alone. Used ones are remembered, so that presenting one again is noticed. */
export interface RefreshToken {
  readonly hash: string;
  readonly sessionId: string;
  readonly usedAt: EpochMs | null;
}

export interface Invite {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly role: Role;
  readonly invitedBy: string;
  /** The credential that it was made with; null where that was not noted. */
  readonly madeBy: Maker | null;
  /** Whoever made it was an owner, so that it may also bring an owner's account back. */
  readonly asOwner: boolean;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs;
}

/** What a token that was sent to someone opens. An invite may have several: one shown to the admin, one mailed. */
export interface SentToken {
  readonly hash: string;
  readonly purpose: 'invite' | 'reset';
  /** The invite or the account. */
  readonly subjectId: string;
  readonly expiresAt: EpochMs;
}

/** Failed logins under one email, whether or not it has an account; known by the hash of its key. */
export interface Attempts {
  readonly emailHash: string;
  readonly count: number;
  readonly lockedUntil: EpochMs | null;
  readonly updatedAt: EpochMs;
}

/** A letter to be sent. It holds no token: that is made when the letter is sent. */
export interface QueuedLetter {
  readonly id: string;
  readonly kind: 'invite' | 'reset';
  /** The invite or the account. */
  readonly subjectId: string;
  readonly createdAt: EpochMs;
  readonly dueAt: EpochMs;
  readonly failures: number;
}
