import type { JsonId, Message, Request } from '../protocol/message.ts';
import { asResponse, batchOf, errorMessage, keyOf } from '../protocol/message.ts';
import type { Exchange, Mark, Refusal } from './exchange.ts';

/** Collects the answers to the requests of a batch, and gives them together. Everything else passes at once. */
export class BatchExchange implements Exchange {
  readonly #front: Exchange;
  readonly #missing: Set<string>;
  readonly #answers: Message[] = [];

  constructor(front: Exchange, requests: readonly (Request | undefined)[]) {
    this.#front = front;
    this.#missing = new Set(requests.filter((request) => request !== undefined).map(({ id }) => keyOf(id)));
  }

  readonly isReplay = false;

  get left(): AbortSignal {
    return this.#front.left;
  }

  get headers(): Exchange['headers'] {
    return this.#front.headers;
  }

  get person(): Exchange['person'] {
    return this.#front.person;
  }

  async deliver(message: Message, mark?: Mark): Promise<void> {
    const answer = asResponse(message);
    if (answer === undefined || !this.#missing.delete(keyOf(answer.id))) return this.#front.deliver(message, mark);
    this.#answers.push(message);
    if (this.#missing.size === 0) await this.#front.deliver(batchOf(this.#answers), mark);
  }

  mark(mark: Mark): Promise<void> {
    return this.#front.mark(mark);
  }

  accept(): void {
    this.#front.accept();
  }

  /** Other parts of the batch may be answered, so this one is answered with an error. */
  refuse({ status }: Refusal, requests: readonly JsonId[]): void {
    for (const id of requests) void this.deliver(errorMessage(id, -32_000, `the MCP server answered HTTP ${status}`));
  }

  end(): void {}
}
