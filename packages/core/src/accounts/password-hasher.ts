/** Hashes passwords; slow on purpose and never on the event loop. Every spelling of a password is one (`normalisePassword`). */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /**
   * `outdated`: made with other parameters than today's; hash anew while the password is at hand. What is no hash at all
   * takes as long as one and is not ok. Throws `overloaded` when too many wait already.
   */
  verify(password: string, hash: string): Promise<{ readonly ok: boolean; readonly outdated: boolean }>;
  /** A hash of nobody's password with today's parameters, to be verified against for an unknown email. */
  readonly decoy: string;
}
