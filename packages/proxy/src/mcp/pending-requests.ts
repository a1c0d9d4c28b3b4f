import type { AbandonedIds } from './abandoned-ids.ts';
import type { GovernedMethods } from './govern/governed-methods.ts';
import { isWatched } from './govern/is-governed.ts';
import type { JsonId, Message, Request } from './protocol/message.ts';
import type { JsonObject } from './protocol/written-json.ts';
import { keyOf, notificationMessage } from './protocol/message.ts';
import type { Exchange, Mark, Refusal } from './transport/exchange.ts';
import type { UpstreamGone } from './transport/upstream.ts';

/** What came back for a request, and on which exchange. */
export interface Arrival {
  readonly exchange: Exchange;
  readonly message?: Message;
  readonly mark?: Mark | undefined;
  readonly refusal?: Refusal;
}

/** A request of the client that has no answer yet. */
export interface PendingRequest {
  readonly id: JsonId;
  readonly method: string;
  readonly params: unknown;
  readonly exchange: Exchange;
  readonly token: unknown;
  readonly envelope: JsonObject | undefined;
  /** Its result is judged before the client sees it, so nothing else that the server says of it passes as it is. */
  isJudged?: boolean;
  /** The answer is here, but not yet with the client. */
  isAnswered?: boolean;
  /** Where it came. A client that resumes asks on another exchange than before. */
  arrivedOn?: Exchange;
  /** Takes the answer, for requests whose answer does not pass as it is. */
  readonly arrived?: ((arrival: Arrival) => void) | undefined;
  readonly lost?: ((why: UpstreamGone) => void) | undefined;
  /** Reports of progress pass through this. */
  readonly relay?: ((message: Message) => Message) | undefined;
  /** The client no longer waits. It may have said so, and why. */
  readonly cancel?: ((notification: Message | undefined) => void) | undefined;
}

/** The requests of one client, by id. An id is free again once it is answered. */
export class PendingRequests {
  readonly #byId = new Map<string, PendingRequest>();
  readonly #byToken = new Map<string, PendingRequest>();
  readonly #ending = new Set<Exchange>();

  get size(): number {
    return this.#byId.size;
  }

  has(id: JsonId): boolean {
    return this.#byId.has(keyOf(id));
  }

  get(id: JsonId): PendingRequest | undefined {
    return this.#byId.get(keyOf(id));
  }

  withToken(token: unknown): PendingRequest | undefined {
    return token === undefined ? undefined : this.#byToken.get(keyOf(token));
  }

  add(request: PendingRequest): void {
    this.#byId.set(keyOf(request.id), request);
    if (request.token !== undefined) this.#byToken.set(keyOf(request.token), request);
  }

  remove(request: PendingRequest): void {
    if (this.#byId.get(keyOf(request.id)) === request) this.#byId.delete(keyOf(request.id));
    if (this.#byToken.get(keyOf(request.token)) === request) this.#byToken.delete(keyOf(request.token));
    const { arrivedOn } = request;
    if (arrivedOn !== undefined && this.#ending.delete(arrivedOn)) this.endOnceDelivered(arrivedOn);
  }

  /** Ends a stream that the server has ended, but not before the answers on it that are still judged have left. */
  endOnceDelivered(exchange: Exchange): void {
    if (this.all().some(({ arrivedOn }) => arrivedOn === exchange)) this.#ending.add(exchange);
    else exchange.end();
  }

  all(): PendingRequest[] {
    return [...this.#byId.values()];
  }

  on(exchange: Exchange): PendingRequest[] {
    return this.all().filter((request) => request.exchange === exchange);
  }
}

const mostPending = 10_000;

/** Why requests cannot be added to those under way. Undefined if they can. */
export function noRoomFor(
  requests: readonly Request[],
  pending: PendingRequests,
  abandoned: AbandonedIds,
  methods: GovernedMethods,
): string | undefined {
  const isTaken = ({ id, method, params }: Request) =>
    pending.has(id) || abandoned.isBarred(id, isWatched(method, params, methods));
  if (requests.some(isTaken)) return 'the id is the one of another request';
  if (abandoned.isFull) return 'too many calls of this session were stopped or cancelled: begin another session';
  return pending.size + requests.length > mostPending ? 'too many requests are under way' : undefined;
}

/** Gives the client what came back. */
export async function passOn(id: JsonId, { exchange, message, mark, refusal }: Arrival): Promise<void> {
  if (message !== undefined) await exchange.deliver(message, mark);
  else if (refusal !== undefined) exchange.refuse(refusal, [id]);
}

/** Says to the server that nobody waits for the request any more. */
export function cancellation({ id, envelope }: PendingRequest, reason: string): Message {
  const meta = envelope === undefined ? {} : { _meta: envelope };
  return notificationMessage('notifications/cancelled', { requestId: id, reason, ...meta });
}
