import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { headersOfRequest, unrelatedHeaders } from '../protocol/mcp-headers.ts';
import { statedVersion } from '../protocol/envelope.ts';
import type { JsonId, Message } from '../protocol/message.ts';
import { asNotification, asRequest, asResponse, keyOf, longestMessage } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';
import { parseMessage, partsOf } from '../protocol/message.ts';
import { challengeOf } from '../auth/challenge.ts';
import type { ServerTokens } from '../auth/server-tokens.ts';
import type { Person } from '../person.ts';
import { EventReader } from './event-stream.ts';
import type { Exchange } from './exchange.ts';
import { badGateway, headerOf, refusalOf, unreachable } from './http-refusal.ts';
import type { HttpCall } from './http-request.ts';
import { readBody, sendHttp } from './http-request.ts';
import type { HttpUpstreamOptions, ServerUrl } from './server-url.ts';
import type { SentHeaders, Upstream, UpstreamEvents, UpstreamSession } from './upstream.ts';
import { inTime } from './upstream.ts';

interface Post {
  readonly controller: AbortController;
  /** Its own revision says that closing the stream cancels. */
  readonly endsByClosing: boolean;
  readonly exchange: Exchange;
  /** All requests that were sent in it, by their keys, and those among them without an answer. */
  readonly requests: ReadonlySet<string>;
  readonly unanswered: Set<string>;
}

interface Call extends Omit<HttpCall, 'signal' | 'headers'>, Partial<Pick<HttpCall, 'headers'>> {
  readonly person: Person | undefined;
}

const none: ReadonlySet<string> = new Set();
const longestDiscarded = 1024 * 1024;
const firstRetryMs = 1000;
const longestRetryMs = 30_000;
const mostRetries = 5;
const farewellMs = 2000;

/** One session with a server over Streamable HTTP. */
export class HttpUpstream implements Upstream {
  readonly hasExchanges = true;
  readonly #server: ServerUrl;
  readonly #events: UpstreamEvents;
  readonly #opensStreams: boolean;
  readonly #tokens: ServerTokens | undefined;
  readonly #posts = new Map<string, Post>();
  readonly #closed = new AbortController();
  #session: string | undefined;
  #version: string | undefined;
  /** Whether others go on with the session. */
  #isLeft = false;
  /** For whom the client acted last. */
  #person: Person | undefined;

  constructor(server: ServerUrl, events: UpstreamEvents, options: HttpUpstreamOptions) {
    this.#tokens = options.tokens;
    this.#server = server;
    this.#events = events;
    this.#opensStreams = options.opensStreams;
    this.#session = options.resumed?.id;
    this.#version = options.resumed?.version;
  }

  get session(): UpstreamSession {
    return { id: this.#session, version: this.#version };
  }

  leave(): void {
    this.#isLeft = true;
  }

  async send(message: Message, exchange: Exchange, more?: SentHeaders): Promise<void> {
    const requests = partsOf(message)
      .map(asRequest)
      .filter((request) => request !== undefined);
    const [first] = requests;
    const keys = new Set(requests.map(({ id }) => keyOf(id)));
    const post: Post = {
      controller: new AbortController(),
      endsByClosing: statedVersion(first?.params) !== undefined,
      exchange,
      requests: keys,
      unanswered: new Set(keys),
    };
    for (const key of post.unanswered) this.#posts.set(key, post);
    this.#person = exchange.person;
    const stated = { ...(first === undefined ? {} : headersOfRequest(first)), ...more?.values };
    const own =
      more?.isRewritten === true ? { ...unrelatedHeaders(exchange.headers), ...stated } : (exchange.headers ?? stated);
    const isHello = requests.some(({ method }) => method === 'initialize');
    const sent = this.#post(post, message, own, isHello).finally(() => this.#forget(post));
    // Messages without an answer leave in order. An answer may take long, and others go on meanwhile.
    if (requests.length === 0) await sent;
    else void sent;
    if (asNotification(message)?.method === 'notifications/initialized' && this.#opensStreams)
      void this.#keepListening(exchange);
  }

  async cancel(id: JsonId, notification: Message): Promise<void> {
    const post = this.#posts.get(keyOf(id));
    if (post === undefined) return;
    post.unanswered.delete(keyOf(id));
    if (!post.endsByClosing) {
      const call = { method: 'POST', body: notification.text, person: post.exchange.person } as const;
      const told = this.#call(call, this.#closed.signal);
      await inTime(told.then(discard));
    }
    if (post.unanswered.size === 0) post.controller.abort();
  }

  listen(exchange: Exchange, lastEventId: string | undefined): void {
    void this.#stream(exchange, lastEventId).then(async (response) => {
      if (response === undefined) return;
      exchange.accept();
      await this.#readEvents(response, exchange);
      this.#events.ended(exchange, true, none);
    });
  }

  async close(): Promise<void> {
    for (const { controller } of this.#posts.values()) controller.abort();
    const farewell = AbortSignal.timeout(farewellMs);
    if (this.#session !== undefined && !this.#isLeft)
      await this.#call({ method: 'DELETE', person: this.#person }, farewell).then(discard, () => {});
    this.#closed.abort();
  }

  async #post(
    post: Post,
    message: Message,
    headers: Readonly<Record<string, string>>,
    isHello: boolean,
  ): Promise<void> {
    const { exchange, controller } = post;
    const signal = AbortSignal.any([controller.signal, this.#closed.signal]);
    try {
      const call = { method: 'POST', body: message.text, headers, person: exchange.person } as const;
      const response = await this.#call(call, signal, isHello);
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) {
        const refusal = await refusalOf(response, this.#tokens?.advice);
        return this.#events.refused(exchange, refusal, post.requests);
      }
      if (isHello) this.#session = headerOf(response, 'mcp-session-id');
      if (post.unanswered.size === 0 || status === 202) {
        discard(response);
        exchange.accept();
      } else if (headerOf(response, 'content-type')?.startsWith('text/event-stream') === true) {
        exchange.accept();
        const lastId = await this.#readEvents(response, exchange, post);
        if (post.unanswered.size > 0 && lastId !== undefined && this.#opensStreams) await this.#resume(post, lastId);
        return this.#events.ended(exchange, lastId !== undefined, post.requests);
      } else await this.#readJson(response, post);
      if (post.unanswered.size > 0) this.#events.ended(exchange, false, post.requests);
    } catch (error) {
      if (signal.aborted) return;
      this.#events.refused(exchange, unreachable(error), post.requests);
    }
  }

  async #readJson(response: IncomingMessage, post: Post): Promise<void> {
    const body = await readBody(response, longestMessage);
    const message = body === undefined ? undefined : parseMessage(body);
    if (message !== undefined) await this.#take(message, post.exchange, post);
    else {
      const refusal = badGateway('the MCP server answered something that is no message');
      this.#events.refused(post.exchange, refusal, post.requests);
    }
  }

  /** Passes on every event. Returns the last position. */
  async #readEvents(response: IncomingMessage, exchange: Exchange, post?: Post): Promise<string | undefined> {
    const reader = new EventReader(longestMessage);
    let lastId: string | undefined;
    try {
      for await (const chunk of response) {
        for (const { data, ...mark } of reader.push(chunk as Buffer)) {
          lastId = mark.id ?? lastId;
          const message = data === '' ? undefined : parseMessage(data);
          if (message !== undefined) await this.#take(message, exchange, post, mark);
          else if (data === '') await this.#events.mark(exchange, mark);
        }
      }
    } catch {
      // The stream broke. Whoever waits for it may resume.
      response.destroy();
    }
    return lastId;
  }

  async #take(message: Message, exchange: Exchange, post?: Post, mark?: { id?: string | undefined }): Promise<void> {
    for (const part of partsOf(message)) {
      const response = asResponse(part);
      if (response === undefined) continue;
      const key = keyOf(response.id);
      (post ?? this.#posts.get(key))?.unanswered.delete(key);
      const version = isObject(response.result) ? response.result['protocolVersion'] : undefined;
      if (typeof version === 'string') this.#version = version;
    }
    await this.#events.message(message, exchange, mark);
  }

  /** Fetches what a broken stream did not bring, for a client that cannot. */
  async #resume(post: Post, from: string): Promise<void> {
    let lastId = from;
    for (let tries = 0; tries < mostRetries && post.unanswered.size > 0; tries++) {
      await this.#pause(tries);
      if (post.controller.signal.aborted || this.#closed.signal.aborted) return;
      const response = await this.#stream(undefined, lastId);
      if (response !== undefined) lastId = (await this.#readEvents(response, post.exchange, post)) ?? lastId;
    }
  }

  /** Keeps a stream open for what the server says by itself, where it offers one. */
  async #keepListening(exchange: Exchange): Promise<void> {
    let lastId: string | undefined;
    for (let tries = 0; tries < mostRetries && !this.#closed.signal.aborted; tries++) {
      const response = await this.#stream(undefined, lastId);
      if (response === undefined && lastId === undefined && tries === 0) return;
      if (response !== undefined) {
        const before = lastId;
        lastId = (await this.#readEvents(response, exchange)) ?? lastId;
        if (lastId !== before) tries = 0;
      }
      await this.#pause(tries);
    }
  }

  async #pause(tries: number): Promise<void> {
    const ms = Math.min(firstRetryMs * 2 ** tries, longestRetryMs);
    await sleep(ms, undefined, { signal: this.#closed.signal, ref: false }).catch(() => {});
  }

  /** Opens an event stream. A refusal goes to the exchange, if there is one. */
  async #stream(exchange: Exchange | undefined, lastEventId: string | undefined): Promise<IncomingMessage | undefined> {
    const signal = exchange === undefined ? this.#closed.signal : AbortSignal.any([exchange.left, this.#closed.signal]);
    const last = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    try {
      const person = exchange === undefined ? this.#person : exchange.person;
      const headers = { ...exchange?.headers, ...last };
      const response = await this.#call({ method: 'GET', headers, person }, signal);
      if (response.statusCode === 200) return response;
      const refusal = await refusalOf(response, this.#tokens?.advice);
      if (exchange !== undefined) this.#events.refused(exchange, refusal, none);
    } catch (error) {
      if (!signal.aborted && exchange !== undefined) this.#events.refused(exchange, unreachable(error), none);
    }
    return undefined;
  }

  async #call(call: Call, signal: AbortSignal, isHello = false): Promise<IncomingMessage> {
    const tokens = this.#tokens;
    if (tokens === undefined) return this.#sendCall(call, signal, isHello, {});
    const { person } = call;
    const send = (token: string) => this.#sendCall(call, signal, isHello, { authorization: `Bearer ${token}` });
    const token = await tokens.find(person);
    const response = await send(token);
    const status = response.statusCode ?? 0;
    // A server that does not take the token has done nothing, so the same may be sent again, once.
    if (status !== 401 && status !== 403) return response;
    if (!(await tokens.refused(person, token, challengeOf(status, response.headers)))) return response;
    discard(response);
    return send(await tokens.find(person));
  }

  #sendCall(
    call: Call,
    signal: AbortSignal,
    isHello: boolean,
    authorization: Readonly<Record<string, string>>,
  ): Promise<IncomingMessage> {
    const headers = {
      ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
      ...call.headers,
      ...(this.#session === undefined || isHello ? {} : { 'mcp-session-id': this.#session }),
      ...(call.method === 'POST' ? { 'content-type': 'application/json' } : {}),
      accept: call.method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...this.#server.headers,
      ...authorization,
    };
    return sendHttp(this.#server.url, { method: call.method, body: call.body, headers, signal });
  }

  #forget(post: Post): void {
    for (const [key, each] of this.#posts) if (each === post) this.#posts.delete(key);
  }
}

/** Nobody needs the answer. A server could go on with it forever. */
function discard(response: IncomingMessage): void {
  void readBody(response, longestDiscarded).catch(() => {});
}
