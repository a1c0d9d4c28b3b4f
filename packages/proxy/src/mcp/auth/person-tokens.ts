import type { Person } from '../person.ts';
import type { Challenge } from './challenge.ts';
import type { KeptLogin, PersonStore } from './person-store.ts';
import { refreshLogin } from './refresh-login.ts';
import type { ServerTokens } from './server-tokens.ts';
import { TokenFailure } from './token-failure.ts';

const marginMs = 30_000;

/**
 * The tokens of the person who logged in on this machine. They are renewed under the lock of the store, because a
 * refresh token works once: of several proxies one renews, and the others take what it got.
 */
export class PersonTokens implements ServerTokens {
  readonly advice: string;
  readonly #server: string;
  readonly #store: PersonStore;
  readonly #pinned: URL | undefined;
  #renewing: Promise<string> | undefined;

  /** Logins of another issuer than `pinned` are not used: neither they nor their client are for this one. */
  constructor(server: string, store: PersonStore, pinned: URL | undefined) {
    this.#server = server;
    this.#pinned = pinned;
    this.#store = store;
    this.advice = `run "reeve mcp login ${server} --config FILE"`;
  }

  /** Callers with a name of their own would act as somebody else. */
  denial(person: Person | undefined): string | undefined {
    if (person === undefined) return undefined;
    return `${this.#server} is used as the person who logged in on the proxy's machine, and not for others`;
  }

  async find(person: Person | undefined): Promise<string> {
    const denial = this.denial(person);
    if (denial !== undefined) throw new TokenFailure(denial);
    const kept = await this.#store.read().catch(unreadable);
    if (!this.#isUsable(kept)) throw new TokenFailure(`nobody has logged in to ${this.#server}: ${this.advice}`);
    return isFresh(kept) ? kept.accessToken : this.#renewed(kept.accessToken);
  }

  async refused(_person: Person | undefined, token: string, challenge: Challenge): Promise<boolean> {
    if (challenge.status === 401) {
      await this.#renewed(token);
      return true;
    }
    if (challenge.error === 'insufficient_scope' && challenge.scope !== undefined) await this.#want(challenge.scope);
    return false;
  }

  #isUsable(kept: KeptLogin | undefined): kept is KeptLogin {
    return kept !== undefined && (this.#pinned === undefined || URL.parse(kept.issuer)?.href === this.#pinned.href);
  }

  /** Calls at once share one request. */
  #renewed(old: string): Promise<string> {
    this.#renewing ??= this.#renew(old).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(old: string): Promise<string> {
    let token: string | undefined;
    const renew = async (kept: KeptLogin | undefined) => {
      if (!this.#isUsable(kept)) throw new TokenFailure(`nobody has logged in to ${this.#server}: ${this.advice}`);
      if (kept.accessToken !== old && isFresh(kept)) {
        token = kept.accessToken;
        return undefined;
      }
      if (kept.refreshToken === undefined) throw new TokenFailure(`the login has ended: ${this.advice}`);
      const renewed = await refreshLogin(kept, kept.refreshToken, this.advice);
      token = renewed.accessToken;
      return renewed;
    };
    await this.#store.change(renew).catch(unreadable);
    if (token === undefined) throw new TokenFailure(`the login has ended: ${this.advice}`);
    return token;
  }

  /** The next login asks for it. */
  async #want(scope: string): Promise<void> {
    await this.#store.change(async (kept) => (kept === undefined ? undefined : { ...kept, wantedScope: scope }));
  }
}

/** The files of this machine fail with errors that name the file, and nothing in it. */
function unreadable(error: unknown): never {
  if (error instanceof TokenFailure) throw error;
  throw new TokenFailure(
    `the login on this machine cannot be used: ${error instanceof Error ? error.message : 'it failed'}`,
  );
}

function isFresh({ expiresAt }: KeptLogin): boolean {
  return expiresAt === undefined || expiresAt - Date.now() > marginMs;
}
