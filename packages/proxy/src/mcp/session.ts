import type { ListPage } from './lock/tool-catalog.ts';
import { requestSubject, toolOf, toolSubject } from './call-subject.ts';
import { ClientAnswers } from './client-answers.ts';
import { isGoverned, isGovernedRequest } from './govern/is-governed.ts';
import { BatchExchange } from './transport/batch-exchange.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import { OwnRequests } from './own-requests.ts';
import type { Arrival, PendingRequest } from './pending-requests.ts';
import { AbandonedIds } from './abandoned-ids.ts';
import { cancellation, noRoomFor, PendingRequests } from './pending-requests.ts';
import { objectionTo, passesWhole, unclear } from './objection.ts';
import type { SessionOptions } from './session-options.ts';
import type { AskedCall } from './start-call.ts';
import { startCall } from './start-call.ts';
import { ServerVoice } from './server-voice.ts';
import { ambiguityOf } from './protocol/ambiguity.ts';
import { envelopeOf, metaOf } from './protocol/envelope.ts';
import type { Person } from './person.ts';
import type { JsonId, Message, Request } from './protocol/message.ts';
import type { JsonObject } from './protocol/written-json.ts';
import { asNotification, asRequest, asResponse, errorMessage, isBatch } from './protocol/message.ts';
import { isMessage, keyOf, messageOf, partsOf } from './protocol/message.ts';
import { isObject } from './protocol/written-json.ts';
import type { Exchange, Mark, Refusal } from './transport/exchange.ts';
import { ownExchange } from './transport/exchange.ts';
import { refusalText } from './transport/http-refusal.ts';
import type { Upstream, UpstreamEvents } from './transport/upstream.ts';
import { UpstreamGone } from './transport/upstream.ts';

const lastCallsMs = 5000;

/**
 * One client in front, one server behind. Calls and lists of tools are governed; everything else passes as it is, in
 * both directions.
 */
export class Session implements UpstreamEvents {
  readonly #options: SessionOptions;
  readonly #upstream: Upstream;
  readonly #pending = new PendingRequests();
  readonly #calls: CallsUnderWay;
  readonly #voice: ServerVoice;
  readonly #answers: ClientAnswers;
  readonly #own = new OwnRequests();
  readonly #watched = new WeakSet<Exchange>();
  readonly #abandoned = new AbandonedIds();
  #gone: UpstreamGone | undefined;
  #saidUnclear = false;
  #isInitialized = false;
  /** Asks in the name of the client, in the revision that it speaks. */
  #envelope: JsonObject | undefined;
  #person: Person | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#person = options.person;
    this.#calls = new CallsUnderWay(options.governor.warn);
    const { governor, catalog } = options;
    const toServer = (message: Message, exchange: Exchange) => this.#upstream.send(message, exchange);
    const own = { pending: this.#pending, calls: this.#calls, person: () => this.#person, toServer };
    this.#voice = new ServerVoice({ ...options, ...own });
    this.#answers = new ClientAnswers(governor, catalog, this.#voice, this.#abandoned);
    this.#upstream = options.connect(this);
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** Takes a message of the client. Resolves when there is room for more. */
  async fromClient(message: Message, exchange: Exchange, runId: string): Promise<void> {
    const parts = partsOf(message);
    const refuse = async (text: string, id?: JsonId) => {
      await exchange.deliver(errorMessage(id, -32_600, text));
      exchange.end();
    };
    const objection = objectionTo(message, parts);
    if (objection !== undefined) return refuse(objection.text, objection.id);
    if (!isBatch(message)) return this.#take(message, exchange, runId);
    const { methods } = this.#options.governor;
    if (!this.#voice.isFree || parts.some((part) => isGoverned(part, methods))) {
      // Each answers in its own time. The client gets the answers together, as it asked.
      const batch = new BatchExchange(exchange, parts.map(asRequest));
      for (const part of parts) await this.#take(part, batch, runId);
      return;
    }
    const requests = parts.map(asRequest).filter((request) => request !== undefined);
    const reason = this.#gone?.message ?? noRoomFor(requests, this.#pending, this.#abandoned, methods);
    if (reason !== undefined) return refuse(reason);
    for (const request of requests) this.#add(request, exchange);
    await this.#upstream.send(message, exchange);
  }

  listen(exchange: Exchange, lastEventId: string | undefined): void {
    this.#upstream.listen(exchange, lastEventId);
  }

  /** Asks the server something of its own. Throws if it answers with an error, or not at all. */
  ask(method: string, params: JsonObject, envelope = this.#envelope, person = this.#person): Promise<JsonObject> {
    const all = envelope === undefined ? params : { ...params, _meta: envelope };
    return this.#own.ask(method, all, async (question) => {
      if (this.#gone !== undefined) throw this.#gone;
      await this.#upstream.send(question, ownExchange(person));
    });
  }

  /** Tells the server something, without an answer. */
  async tell(method: string): Promise<void> {
    await this.#upstream.send(messageOf({ jsonrpc: '2.0', method }), ownExchange(this.#person));
  }

  /** A page of the server's tools, for the proxy itself. */
  readonly listPage: ListPage = (cursor) => this.ask('tools/list', cursor === undefined ? {} : { cursor });

  /** Ends what is under way, and then the server. */
  async close(): Promise<void> {
    for (const request of this.#pending.all()) this.#cancel(request);
    this.#voice.requests.close();
    this.#own.fail(new Error('the session has ended'));
    await this.#calls.endedWithin(lastCallsMs);
    await this.#upstream.close();
  }

  async message(message: Message, from?: Exchange, mark?: Mark): Promise<void> {
    if (!isMessage(message) || ambiguityOf(message) !== undefined) return this.#unclear(message);
    const parts = isBatch(message) ? partsOf(message) : [];
    const isWhole = this.#voice.isOpen && passesWhole(parts, (part) => this.#findAnswered(part));
    if (parts.length > 0 && !isWhole) {
      for (const part of parts) await this.message(part, from);
      return;
    }
    const answered = parts.map((part) => this.#findAnswered(part)).filter((request) => request !== undefined);
    for (const part of parts) this.#answers.passes(part, mark, this.#findAnswered(part));
    for (const part of parts) this.#voice.requests.pass(part);
    for (const request of answered) this.#pending.remove(request);
    if (answered[0] !== undefined) return (from ?? answered[0].exchange).deliver(message, mark);
    if (asResponse(message) !== undefined) return this.#answered(message, from, mark);
    if (asNotification(message)?.method === 'notifications/tools/list_changed') {
      this.#options.catalog.refresh(this.listPage);
    }
    await this.#voice.said(message, from, mark);
  }

  readonly mark = (from: Exchange, mark: Mark): Promise<void> => from.mark(mark);

  refused(exchange: Exchange, refusal: Refusal, keys: ReadonlySet<string>): void {
    if (exchange.isOwn === true) return this.#own.fail(new Error(refusalText(refusal)));
    const requests = this.#pending.on(exchange).filter(({ id }) => keys.has(keyOf(id)));
    const governed = requests.find(({ arrived }) => arrived !== undefined);
    if (governed !== undefined) return governed.arrived?.({ exchange, refusal });
    for (const request of requests) this.#pending.remove(request);
    exchange.refuse(
      refusal,
      requests.map(({ id }) => id),
    );
  }

  ended(exchange: Exchange, resumable: boolean, keys: ReadonlySet<string>): void {
    const requests = this.#pending.on(exchange).filter(({ id }) => keys.has(keyOf(id)));
    const why = new UpstreamGone('the MCP server ended its answer too early');
    const lost = resumable ? [] : requests.filter(({ isAnswered }) => isAnswered !== true);
    for (const request of lost) this.#lose(request, why);
    // What is on its way to the client still comes, and ends the exchange.
    const isLeft = lost.length === 0 && requests.every(({ isAnswered }) => isAnswered !== true);
    if (isLeft) this.#pending.endOnceDelivered(exchange);
  }

  readonly gone = (why: UpstreamGone): void => {
    this.#gone = why;
    this.#own.fail(why);
    for (const request of this.#pending.all()) this.#lose(request, why);
    void this.#calls.ended().then(() => this.#options.onGone(why));
  };

  async #take(message: Message, exchange: Exchange, runId: string): Promise<void> {
    const request = asRequest(message);
    if (request !== undefined) return this.#request(request, message, exchange, runId);
    const notification = asNotification(message);
    if (notification?.method === 'notifications/cancelled') {
      const cancelled = this.#pending.get(notification.params['requestId']);
      if (cancelled !== undefined) return this.#cancel(cancelled, message);
    }
    // A call that wants no answer is none in MCP, and must not reach a server that thinks otherwise.
    const isCall = isGoverned(message, this.#options.governor.methods);
    if (isCall || this.#voice.requests.take(message, exchange)) return;
    await this.#upstream.send(message, exchange);
    if (notification?.method !== 'notifications/initialized') return;
    this.#isInitialized = true;
    this.#options.catalog.refresh(this.listPage);
  }

  async #request(request: Request, message: Message, exchange: Exchange, runId: string): Promise<void> {
    const { id, method, params } = request;
    const refuse = (code: number, text: string) => exchange.deliver(errorMessage(id, code, text));
    if (this.#gone !== undefined) return refuse(-32_000, this.#gone.message);
    const { catalog, governor, lister, tokens, isShared } = this.#options;
    const noRoom = noRoomFor([request], this.#pending, this.#abandoned, governor.methods);
    if (noRoom !== undefined) return refuse(-32_600, noRoom);
    const envelope = envelopeOf(params);
    this.#voice.runId = runId;
    this.#envelope = envelope ?? this.#envelope;
    this.#isInitialized ||= isShared === true && method !== 'initialize';
    const canList = envelope !== undefined || lister !== undefined || this.#isInitialized;
    const list = canList ? (lister?.(envelope, exchange.person) ?? this.listPage) : undefined;
    this.#person = exchange.person;
    const denial = tokens?.denial(exchange.person) ?? this.#voice.objectionTo(request);
    const tool = method === 'tools/call' ? toolOf(params) : undefined;
    if (tool !== undefined) {
      const subject = toolSubject({ request, tool, list, message, exchange, denial }, catalog);
      return this.#call({ request, exchange, runId, subject });
    }
    if (method === 'tools/call') return refuse(-32_602, 'params.name must be the name of a tool');
    if (denial !== undefined) return refuse(-32_001, `Denied by policy: ${denial}`);
    if (isGovernedRequest(method, params, governor.methods)) {
      return this.#call({ request, exchange, runId, subject: requestSubject(request, message) });
    }
    if (list !== undefined) catalog.refreshIfUnknown(list);
    const arrived = (arrival: Arrival) =>
      this.#calls.add(this.#answers.show(pending, arrival, runId).finally(() => this.#pending.remove(pending)));
    const passesAsItIs = method !== 'tools/list' && this.#voice.isFree;
    const pending: PendingRequest = this.#add(request, exchange, passesAsItIs ? {} : { arrived });
    await this.#upstream.send(message, exchange);
  }

  #add(request: Request, exchange: Exchange, handlers: Partial<PendingRequest> = {}): PendingRequest {
    const { id, method, params } = request;
    const [token, envelope] = [metaOf(params)['progressToken'], envelopeOf(params)];
    const pending = { id, method, params, exchange, token, envelope, ...handlers };
    this.#pending.add(pending);
    if (!this.#watched.has(exchange)) {
      this.#watched.add(exchange);
      const leave = () => {
        for (const each of this.#pending.on(exchange)) this.#cancel(each);
      };
      if (exchange.left.aborted) leave();
      else exchange.left.addEventListener('abort', leave, { once: true });
    }
    return pending;
  }

  /** Starts a call. It goes on by itself. */
  #call(asked: AskedCall): void {
    const { request, exchange, runId } = asked;
    const started = startCall(asked, this.#options.governor, {
      track: (handlers) => this.#add(request, exchange, handlers),
      send: async (message, headers) => {
        if (this.#gone !== undefined) throw this.#gone;
        await this.#upstream.send(message, exchange, headers);
      },
      judge: (pending) => this.#voice.judge(pending),
      withhold: () => this.#abandoned.withhold(request.id),
      canRepeat: this.#upstream.hasExchanges,
      stop: (notification) => this.#upstream.cancel(request.id, notification),
      give: (judged, came) => this.#answers.give(started.pending, judged, came, runId),
    });
    this.#calls.add(started.done.finally(() => this.#pending.remove(started.pending)));
  }

  /** The client no longer waits for the answer. */
  #cancel(request: PendingRequest, notification?: Message): void {
    if (request.cancel !== undefined) return request.cancel(notification);
    this.#pending.remove(request);
    this.#abandoned.cancel(request.id);
    this.#calls.add(
      this.#upstream.cancel(request.id, notification ?? cancellation(request, 'cancelled by the client')),
    );
  }

  #lose(request: PendingRequest, why: UpstreamGone): void {
    if (request.lost !== undefined) return request.lost(why);
    this.#pending.remove(request);
    void request.exchange.deliver(errorMessage(request.id, -32_000, why.message));
  }

  #findAnswered(part: Message): PendingRequest | undefined {
    const response = asResponse(part);
    return response === undefined ? undefined : this.#pending.get(response.id);
  }

  /** Does not pass. Whoever waits for it learns that. */
  #unclear({ value }: Message): void {
    if (!this.#saidUnclear) this.#options.governor.warn(unclear);
    this.#saidUnclear = true;
    const request = isObject(value) ? this.#pending.get(value['id']) : undefined;
    if (request !== undefined) this.#lose(request, new UpstreamGone('the MCP server sent no clear answer'));
  }

  async #answered(message: Message, from: Exchange | undefined, mark: Mark | undefined): Promise<void> {
    const response = asResponse(message);
    if (response === undefined || this.#own.take(message)) return;
    const request = this.#pending.get(response.id);
    if (request === undefined) return this.#answers.repeat(response.id, message, from, mark);
    const exchange = from ?? request.exchange;
    request.isAnswered = true;
    request.arrivedOn = exchange;
    if (request.arrived !== undefined) return request.arrived({ exchange, message, mark });
    this.#pending.remove(request);
    this.#answers.passes(message, mark, request);
    await exchange.deliver(message, mark);
  }
}
