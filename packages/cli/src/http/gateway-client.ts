import type { RouteName, RouteOutput, RouteRequest, Routes } from '@reeve/contract/http';
import { CliError } from '../cli-error.ts';
import type { ActiveContext } from '../context/active-context.ts';
import type { Session } from '../context/sessions.ts';
import { renewSession } from '../context/sessions.ts';
import { isObject } from '../is-object.ts';
import { renewedSession } from './renew-session.ts';
import type { HttpAnswer } from './send.ts';
import { readText } from './send.ts';
import { requireSuccess, sendRoute } from './send-route.ts';

export interface CallOptions {
  readonly accept?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  readonly timeoutMs: number;
  /** Called when something goes wrong but the command continues. */
  readonly warn: (text: string) => void;
  /** Shows that the command waits for an answer. */
  readonly during: <Result>(work: Promise<Result>) => Promise<Result>;
}

/**
 * The only way to the gateway. It chooses the credential for every request: the session's token, else the raw key, else
 * none. It renews an expired session before the request, and a refused one once after it.
 */
export class GatewayClient {
  readonly #context: ActiveContext;
  readonly #options: ClientOptions;
  #session: Session | undefined;

  constructor(context: ActiveContext, options: ClientOptions) {
    this.#context = context;
    this.#options = options;
    this.#session = context.session;
  }

  get apiUrl(): string {
    return this.#context.apiUrl;
  }

  /** Calls a route and returns the body of its answer. */
  async call<Name extends RouteName>(
    name: Name,
    request: RouteRequest<Routes[Name]>,
    options: CallOptions = {},
  ): Promise<RouteOutput<Routes[Name]>> {
    const answer = await this.open(name, request, { accept: 'application/json', ...options });
    const value = parsed(await readText(answer, this.#timeout(options)));
    // Checks only the outline: a gateway of another version may send more or less.
    if (isObject(value)) return value as unknown as RouteOutput<Routes[Name]>;
    throw new CliError(
      `${this.apiUrl} answered ${answer.status}, but not as a gateway would. Is that the URL of a gateway?`,
    );
  }

  /** Calls a route and reads its answer piece by piece. */
  async open<Name extends RouteName>(
    name: Name,
    request: RouteRequest<Routes[Name]>,
    options: CallOptions = {},
  ): Promise<HttpAnswer> {
    const timeoutMs = this.#timeout(options);
    const attempt = (credential: string | undefined) =>
      this.#options.during(sendRoute(this.apiUrl, name, request, { accept: '*/*', ...options, credential, timeoutMs }));
    let answer = await attempt(await this.credential());
    // A raw key cannot be renewed, so its refusal is final.
    if (answer.status === 401 && this.#session !== undefined) {
      answer.body.resume();
      await this.#renew(this.#session);
      answer = await attempt(this.#session.token);
    }
    return requireSuccess(answer, timeoutMs);
  }

  /** The credential that the next request would carry. */
  async credential(): Promise<string | undefined> {
    if (this.#session !== undefined && isPast(this.#session)) await this.#renew(this.#session);
    return this.#session?.token ?? this.#context.apiKey;
  }

  /** Gets the next session with the same scopes, and saves it. */
  async #renew(session: Session): Promise<void> {
    const { folder, name } = this.#context;
    const { from, to } = await renewedSession(this.#context, session, this.#options.timeoutMs);
    this.#session = to;
    try {
      await renewSession(folder, name, from, to);
    } catch (error) {
      this.#options.warn(`the renewed session is not kept: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #timeout({ timeoutMs }: CallOptions): number {
    return timeoutMs ?? this.#options.timeoutMs;
  }
}

function isPast({ expiresAt }: Session): boolean {
  return expiresAt * 1000 <= Date.now();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
