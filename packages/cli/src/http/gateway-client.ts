import type { RouteName, RouteOutput, RouteRequest, Routes } from '@reeve/contract/http';
import { CliError } from '../cli-error.ts';
import type { ActiveContext } from '../context/active-context.ts';
import type { Session } from '../context/sessions.ts';
import { renewSession } from '../context/sessions.ts';
import { isObject } from '../is-object.ts';
import { bearerHeader } from './bearer-header.ts';
import { problemError } from './problem-error.ts';
import { renewedSession } from './renew-session.ts';
import type { HttpAnswer } from './send.ts';
import { readText, send } from './send.ts';

/** A call of a route. The compiler holds method and path to the contract. */
export type RouteCall<Name extends RouteName> = {
  readonly method: Routes[Name]['method'];
  readonly path: Routes[Name]['path'];
} & RouteRequest<Routes[Name]>;

interface Wire {
  readonly method: string;
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

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
    _route: Name,
    call: RouteCall<Name>,
    options: CallOptions = {},
  ): Promise<RouteOutput<Routes[Name]>> {
    const wire = call as Wire;
    const answer = await this.#request(wire, { accept: 'application/json', ...options });
    const url = this.#url(wire);
    const value = parsed(await readText(answer, url, this.#timeout(options)));
    // Checks only the outline: a gateway of another version may send more or less.
    if (isObject(value)) return value as unknown as RouteOutput<Routes[Name]>;
    throw new CliError(
      `${this.apiUrl} answered ${answer.status}, but not as a gateway would. Is that the URL of a gateway?`,
    );
  }

  /** Calls a route and reads its answer piece by piece. */
  async open<Name extends RouteName>(
    _route: Name,
    call: RouteCall<Name>,
    options: CallOptions = {},
  ): Promise<HttpAnswer> {
    return this.#request(call, options);
  }

  /** The credential that the next request would carry. */
  async credential(): Promise<string | undefined> {
    if (this.#session !== undefined && isPast(this.#session)) await this.#renew(this.#session);
    return this.#session?.token ?? this.#context.apiKey;
  }

  async #request(wire: Wire, options: CallOptions): Promise<HttpAnswer> {
    const first = await this.#send(wire, await this.credential(), options);
    // A raw key cannot be renewed, so its refusal is final.
    const isFinal = first.status !== 401 || this.#session === undefined;
    if (isFinal) return this.#success(wire, first, options);
    first.body.resume();
    await this.#renew(this.#session as Session);
    return this.#success(wire, await this.#send(wire, this.#session?.token, options), options);
  }

  async #success(wire: Wire, answer: HttpAnswer, options: CallOptions): Promise<HttpAnswer> {
    if (answer.status >= 200 && answer.status < 300) return answer;
    const url = this.#url(wire);
    const text = await readText(answer, url, this.#timeout(options));
    throw problemError(answer.status, text, answer.headers.location, url);
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

  #send(wire: Wire, credential: string | undefined, options: CallOptions): Promise<HttpAnswer> {
    const sent = send({
      method: wire.method,
      url: this.#url(wire),
      headers: {
        accept: options.accept ?? '*/*',
        ...bearerHeader(credential),
        ...(wire.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...wire.headers,
      },
      ...(wire.body === undefined ? {} : { body: JSON.stringify(wire.body) }),
      timeoutMs: this.#timeout(options),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return this.#options.during(sent);
  }

  #timeout({ timeoutMs }: CallOptions): number {
    return timeoutMs ?? this.#options.timeoutMs;
  }

  #url({ path, params = {}, query = {} }: Wire): string {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const asked = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = new URLSearchParams(Object.fromEntries(asked) as Record<string, string>).toString();
    return `${this.#context.apiUrl}${filled}${search === '' ? '' : `?${search}`}`;
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
