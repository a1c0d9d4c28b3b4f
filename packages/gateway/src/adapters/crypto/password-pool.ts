import { randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { PasswordHasher } from '@reeve/core';
import { normalisePassword, passwordBounds } from '@reeve/core';
import type { HashParameters, PasswordHash } from './password-hash.ts';
import { currentParameters, formatHash, parseHash, sameParameters } from './password-hash.ts';
import type { PasswordThreadsOptions } from './password-threads.ts';
import { PasswordThreads } from './password-threads.ts';

export type PasswordPoolOptions = Partial<PasswordThreadsOptions> & { readonly parameters?: HashParameters };

const byDefault: PasswordThreadsOptions = {
  // One core stays free for decisions, and memory for two hashes at a time is enough.
  threads: Math.max(1, Math.min(2, availableParallelism() - 1)),
  waiting: 512,
  idleMs: 30_000,
  onFault: () => {},
};

/** Argon2id in separate threads: a burst of logins waits in line, and decisions do not slow down. */
export class PasswordPool implements PasswordHasher {
  readonly decoy: string;
  readonly #decoy: PasswordHash;
  readonly #threads: PasswordThreads;

  constructor({ parameters = currentParameters, ...options }: PasswordPoolOptions = {}) {
    this.#threads = new PasswordThreads({ ...byDefault, ...options });
    // The tag is random instead of computed, so nobody knows a password for it.
    this.#decoy = { parameters, salt: randomBytes(parameters.saltBytes), tag: randomBytes(parameters.tagBytes) };
    this.decoy = formatHash(this.#decoy);
  }

  async hash(password: string): Promise<string> {
    const { parameters } = this.#decoy;
    const salt = randomBytes(parameters.saltBytes);
    const tag = await this.#threads.run({ password: normalisePassword(password), salt, parameters });
    return formatHash({ parameters, salt, tag });
  }

  /** A hash or password that can never match takes as long as one that can. */
  async verify(password: string, hash: string): Promise<{ readonly ok: boolean; readonly outdated: boolean }> {
    const known = parseHash(hash);
    const { parameters, salt, tag } = known ?? this.#decoy;
    const form = normalisePassword(password);
    // No account has a password this long, and it is not worth the memory while it waits.
    const tooLong = form.length > 2 * passwordBounds.most;
    const found = await this.#threads.run({ password: tooLong ? '' : form, salt, parameters });
    const same = timingSafeEqual(found, tag);
    return {
      ok: same && known !== undefined && !tooLong,
      outdated: !sameParameters(parameters, this.#decoy.parameters),
    };
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
