import type { CallSubject } from './call-subject.ts';
import { requestSubject } from './call-subject.ts';
import { BoundedSet } from './bounded-set.ts';
import { CallProgress } from './govern/call-progress.ts';
import { governCall } from './govern/govern-call.ts';
import type { Governor } from './govern/governor.ts';
import type { Person } from './person.ts';
import type { Arrival } from './pending-requests.ts';
import type { JsonId, Message, Request } from './protocol/message.ts';
import { asRequest, asResponse, errorMessage, keyOf, notificationMessage } from './protocol/message.ts';
import type { Exchange } from './transport/exchange.ts';
import { ownExchange } from './transport/exchange.ts';

/** Where the client is now, and for whom it acts. */
export interface Front {
  readonly exchange: () => Exchange | undefined;
  readonly person: Person | undefined;
}

/** A governed request of the server. */
interface OpenRequest {
  readonly request: Request;
  readonly answer: PromiseWithResolvers<Arrival>;
  readonly cancelled: AbortController;
  /** Where the client hears of it. Where the server repeats it, that is elsewhere. */
  front: Front;
  /** What the client was given of it, once it may have it. */
  given: Message | undefined;
}

const most = 10_000;

/**
 * What the server asks the client for, where that is a check: the client sees it once it is allowed, and the server gets
 * the answer once that was judged. Then an answer to anything else that is not open passes no more.
 */
export class ServerRequests {
  readonly #governor: Governor;
  readonly #toServer: (message: Message, exchange: Exchange) => Promise<void>;
  readonly #open = new Map<string, OpenRequest>();
  /** Requests that pass as they are and have no answer yet. */
  readonly #passed = new BoundedSet(most);

  constructor(governor: Governor, toServer: (message: Message, exchange: Exchange) => Promise<void>) {
    this.#governor = governor;
    this.#toServer = toServer;
  }

  get areGoverned(): boolean {
    return this.#governor.methods.ofServer.size > 0;
  }

  isGoverned(message: Message): boolean {
    return this.#governor.methods.ofServer.has(asRequest(message)?.method ?? '');
  }

  /** A request that passes as it is. */
  pass(message: Message): void {
    const request = asRequest(message);
    if (request !== undefined) this.#passed.add(keyOf(request.id));
  }

  /** Whether the client was given a request by this id. */
  hasGiven(id: JsonId): boolean {
    return this.#passed.has(keyOf(id)) || this.#open.get(keyOf(id))?.given !== undefined;
  }

  /** Has a request judged. Resolves when it is over. */
  async govern(message: Message, front: Front, runId: string): Promise<void> {
    const request = asRequest(message);
    if (request === undefined) return;
    const key = keyOf(request.id);
    const known = this.#open.get(key);
    // The server repeats it. What the client may see of it is what it was given before.
    if (known !== undefined) {
      known.front = front;
      return known.given === undefined ? undefined : front.exchange()?.deliver(known.given);
    }
    if (this.#open.size >= most) {
      const refused = errorMessage(request.id, -32_000, 'too many requests are under way');
      return this.#toServer(refused, ownExchange(front.person));
    }
    const open: OpenRequest = {
      request,
      answer: Promise.withResolvers<Arrival>(),
      cancelled: new AbortController(),
      front,
      given: undefined,
    };
    open.answer.promise.catch(() => {});
    this.#open.set(key, open);
    const subject = requestSubject(request, message);
    try {
      await this.#carryOut(open, subject, runId);
    } finally {
      this.#open.delete(key);
    }
  }

  /** Takes an answer of the client. False if it passes as it is. */
  take(message: Message, exchange: Exchange): boolean {
    const response = asResponse(message);
    if (response === undefined) return false;
    const key = keyOf(response.id);
    if (this.#passed.has(key) || !this.areGoverned) {
      this.#passed.delete(key);
      return false;
    }
    const open = this.#open.get(key);
    if (open?.given !== undefined) open.answer.resolve({ exchange, message });
    return true;
  }

  /** The server no longer wants the answer. */
  cancel(id: JsonId): void {
    this.#open.get(keyOf(id))?.cancelled.abort(new Error('cancelled by the server'));
  }

  close(): void {
    for (const { cancelled } of this.#open.values()) cancelled.abort(new Error('the session has ended'));
  }

  async #carryOut(open: OpenRequest, subject: CallSubject, runId: string): Promise<void> {
    const { request, answer, cancelled } = open;
    const { person } = open.front;
    const own = ownExchange(person);
    const fault = subject.fault();
    if (fault !== undefined) return this.#toServer(fault, own);
    await governCall(
      {
        subject,
        runId,
        subjectToken: person?.subjectToken,
        progress: new CallProgress(undefined, () => {}),
        cancelled: cancelled.signal,
        forward: async (args) => {
          open.given = subject.sent(args).message;
          await open.front.exchange()?.deliver(open.given);
          return answer.promise;
        },
        stop: async (reason) => {
          const why = cancelled.signal.aborted ? 'cancelled by the server' : reason;
          const params = { requestId: request.id, reason: why };
          await open.front.exchange()?.deliver(notificationMessage('notifications/cancelled', params));
        },
        answer: (message) => this.#toServer(message, own),
        pass: async ({ message, exchange }) => {
          if (message !== undefined) await this.#toServer(message, exchange);
        },
      },
      this.#governor,
    );
  }
}
