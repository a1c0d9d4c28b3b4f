import { ApiError } from './api-error.ts';
import type { Grant } from './grant.ts';
import { accountGrant, keyGrant } from './grant.ts';
import { Observable } from './observable.ts';
import type { Answer, RequestOf } from './send.ts';
import { readBody, send } from './send.ts';
import type { EndReason } from './tabs.ts';
import { Tabs } from './tabs.ts';

export type SessionState =
  | { readonly status: 'starting' }
  | { readonly status: 'signed_out'; readonly reason?: EndReason }
  | { readonly status: 'signed_in'; readonly grant: Grant };

/** How long a tab waits for another tab's new token, at each attempt. */
const patienceMs = [300, 1000, 3000];

/** A token that expires sooner may not reach the gateway in time. */
const dueMs = 2000;

/**
 * Who is signed in, in all tabs of this browser. The access token is in memory only. The refresh cookie, which no
 * script can read, brings the next token: before expiry, or after a refusal.
 */
export class Session {
  readonly state = new Observable<SessionState>({ status: 'starting' });
  readonly #tabs = new Tabs();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refreshing: Promise<Grant | undefined> | undefined;
  #resuming: Promise<void> | undefined;
  /** Why the session is about to end. A tab may learn of the end from a refused call first, which has no reason. */
  #ending: EndReason | undefined;

  constructor() {
    this.#tabs.listen((message) => {
      if (message.type === 'grant') this.#take(message.grant);
      else if (message.type === 'ending') this.#ending = message.reason;
      else if (message.type === 'ended') this.#end(message.reason);
      else if (this.grant !== undefined) this.#tabs.tell({ type: 'grant', grant: this.grant });
    });
    // A background tab's timers run late or not at all.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible' && this.#isDue()) void this.refresh().catch(() => undefined);
    });
  }

  get grant(): Grant | undefined {
    const state = this.state.value;
    return state.status === 'signed_in' ? state.grant : undefined;
  }

  /** Runs once, on load: takes the session of another tab, else tries the cookie. Throws if the gateway cannot say. */
  resume(): Promise<void> {
    this.#resuming ??= this.#resume().catch((error: unknown) => {
      this.#resuming = undefined;
      throw error;
    });
    return this.#resuming;
  }

  async logIn(body: NonNullable<RequestOf<'logIn'>['body']>): Promise<void> {
    this.#adopt(accountGrant(await readBody<'logIn'>(await send('logIn', { body }))));
  }

  async register(body: NonNullable<RequestOf<'register'>['body']>): Promise<void> {
    this.#adopt(accountGrant(await readBody<'register'>(await send('register', { body }))));
  }

  async acceptInvite(body: NonNullable<RequestOf<'acceptInvite'>['body']>): Promise<void> {
    this.#adopt(accountGrant(await readBody<'acceptInvite'>(await send('acceptInvite', { body }))));
  }

  /** Uses the key for this one call and forgets it. */
  async logInByKey(key: string): Promise<void> {
    const exchanged = await readBody<'exchangeToken'>(await send('exchangeToken', {}, { bearer: key }));
    const me = await readBody<'me'>(await send('me', {}, { bearer: exchanged.token }));
    this.#adopt(keyGrant(exchanged, me));
  }

  /** Rotates the key that the person is signed in with, and signs in with the new one. The old key's token ends. */
  async rotateOwnKey(id: string): Promise<Answer<'rotateApiKey'>> {
    const options = { bearer: this.grant?.token };
    const rotating = send('rotateApiKey', { params: { id } }, options).then((made) => readBody<'rotateApiKey'>(made));
    // Calls refused meanwhile wait for the next token.
    this.#refreshing = rotating
      .then(({ key }) => this.logInByKey(key))
      .then(() => this.grant)
      .finally(() => (this.#refreshing = undefined));
    // The new key is shown in any case, because nobody could see it again.
    await this.#refreshing.catch(() => undefined);
    return rotating;
  }

  /** Ends the session at the gateway and in every tab. Fails if the gateway cannot be told. */
  async logOut(): Promise<void> {
    let atProvider: string | null = null;
    await this.endBy('signed_out', async () => {
      if (this.grant?.kind !== 'account') return;
      const answer = await send('logOut', {}, { isKept: true });
      atProvider = answer.headers.get('reeve-end-session');
    });
    // The provider of a single sign-on has a session of its own, which would let the next person in.
    if (atProvider !== null) location.assign(atProvider);
  }

  /** Makes the call that ends this session (and perhaps others), after which every tab says why it ended. */
  async endBy(reason: EndReason, call: () => Promise<unknown>): Promise<void> {
    this.#expectEnd(reason);
    try {
      await call();
    } catch (error) {
      this.#expectEnd(undefined);
      throw error;
    }
    this.#tabs.tell({ type: 'ended', reason });
    this.#end(reason);
  }

  /** A working token for one call: the current one, or the next if that is about to expire. */
  async token(): Promise<string | undefined> {
    const { grant } = this;
    if (grant === undefined || grant.expiresAt - Date.now() > dueMs) return grant?.token;
    return (await this.refresh())?.token;
  }

  /** After a 401: another token to try, or none if the session is over. */
  async replace(refused: string): Promise<string | undefined> {
    const { grant } = this;
    if (grant !== undefined && grant.token !== refused) return grant.token;
    return (await this.refresh())?.token;
  }

  /** The next grant. Undefined if the session has ended. Throws if the gateway does not answer. */
  refresh(): Promise<Grant | undefined> {
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #resume(): Promise<void> {
    if ((await this.#tabs.isAnotherPresent()) && (await this.#fromAnotherTab(500)) !== undefined) return;
    await this.refresh();
  }

  async #refresh(): Promise<Grant | undefined> {
    const before = this.grant;
    if (before?.kind === 'api_key') {
      // Refused well before its expiry: somebody revoked or rotated the key.
      this.#end(before.expiresAt - Date.now() > dueMs ? 'refused' : 'expired');
      return undefined;
    }
    return this.#tabs.inTurn(async () => {
      // While this tab waited for its turn, another tab may have received the next token.
      if (this.grant !== undefined && this.grant.token !== before?.token) return this.grant;
      return this.#exchangeCookie(before !== undefined);
    });
  }

  async #exchangeCookie(hadSession: boolean, tries = 0): Promise<Grant | undefined> {
    try {
      return this.#adopt(
        accountGrant(await readBody<'refreshSession'>(await send('refreshSession', {}, { isKept: true }))),
      );
    } catch (error) {
      // Without an account store there is nothing to resume.
      if (error instanceof ApiError && error.code === 'accounts_unavailable') return this.#over(false);
      if (!(error instanceof ApiError) || mayPass(error)) {
        if (hadSession) this.#tryLater();
        throw error;
      }
      // Another tab was faster with the same cookie. Its session counts, and the browser has the next cookie soon.
      const waitMs = error.code === 'refresh_raced' ? patienceMs[tries] : undefined;
      if (waitMs !== undefined) {
        return (await this.#fromAnotherTab(waitMs)) ?? this.#exchangeCookie(hadSession, tries + 1);
      }
      return this.#over(hadSession);
    }
  }

  #over(hadSession: boolean): undefined {
    if (!hadSession) {
      this.state.set({ status: 'signed_out' });
      return;
    }
    const reason = this.#ending ?? 'ended';
    this.#tabs.tell({ type: 'ended', reason });
    this.#end(reason);
  }

  #expectEnd(reason: EndReason | undefined): void {
    this.#ending = reason;
    this.#tabs.tell({ type: 'ending', reason });
  }

  /** Asks the other tabs, and waits for a grant from one of them. */
  #fromAnotherTab(waitMs: number): Promise<Grant | undefined> {
    const before = this.grant?.token;
    return new Promise((resolve) => {
      const done = () => {
        const { grant } = this;
        if (grant === undefined || grant.token === before) return;
        finish(grant);
      };
      const unsubscribe = this.state.subscribe(done);
      const timer = setTimeout(() => finish(undefined), waitMs);
      const finish = (grant: Grant | undefined) => {
        clearTimeout(timer);
        unsubscribe();
        resolve(grant);
      };
      this.#tabs.tell({ type: 'ask' });
    });
  }

  #adopt(grant: Grant): Grant {
    this.#take(grant);
    this.#tabs.tell({ type: 'grant', grant });
    return grant;
  }

  #take(grant: Grant): void {
    if (grant.expiresAt <= Date.now() || this.grant?.token === grant.token) return;
    if (this.grant === undefined) this.#ending = undefined;
    this.state.set({ status: 'signed_in', grant });
    this.#tabs.setPresent(true);
    this.#schedule(grant.expiresAt - Date.now() - marginOf(grant));
  }

  #end(reason: EndReason): void {
    clearTimeout(this.#timer);
    this.#tabs.setPresent(false);
    if (this.state.value.status === 'signed_in') this.state.set({ status: 'signed_out', reason });
  }

  #isDue(): boolean {
    const { grant } = this;
    return grant !== undefined && grant.expiresAt - Date.now() < marginOf(grant);
  }

  #tryLater(): void {
    this.#schedule(5000);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    // The longest delay that a timer takes.
    const delay = Math.min(Math.max(delayMs, 0), 2 ** 31 - 1);
    this.#timer = setTimeout(() => void this.refresh().catch(() => undefined), delay);
  }
}

/** Errors that say nothing about the session: no answer, a fault of the gateway, or too many calls. */
function mayPass({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** How long before expiry an account's token is replaced. A key's token is used to its end, as nothing follows. */
function marginOf({ kind, lifetimeMs }: Grant): number {
  return kind === 'api_key' ? 0 : Math.min(60_000, lifetimeMs / 4);
}

export const session = new Session();
