import type { ServerResponse } from 'node:http';
import type { JsonId, Message, Request } from '../protocol/message.ts';
import { asResponse, errorMessage, keyOf, partsOf } from '../protocol/message.ts';
import { eventText } from '../transport/event-stream.ts';
import type { Exchange, Mark, Refusal } from '../transport/exchange.ts';
import { written } from '../transport/written.ts';
import type { StreamPositions } from './stream-positions.ts';

export interface HttpExchangeOptions {
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly person: Exchange['person'];
  /** The requests of a POST. None for a GET, which is a stream in any case. */
  readonly requests: readonly Request[] | 'stream';
  readonly isReplay?: boolean;
  /** Whether it resumes a stream that this process did not give: nobody here knows which answers on it are held back. */
  readonly isForeign?: boolean;
  /** Notes the positions that the client gets, in a session. */
  readonly positions?: StreamPositions;
  /** Headers of whatever is answered. */
  readonly answerHeaders: () => Readonly<Record<string, string>>;
  /** Takes room for an answer that the client has not read yet. */
  readonly holdAnswer: (bytes: number) => void;
  /** The HTTP status that goes with an answer, where it is the only one. */
  readonly statusOf: (message: Message) => number;
}

const keepAliveMs = 15_000;
const elsewhere = 'the answer can be had only where the call was made: this process knows nothing of it';

/** One POST or GET of a client. Answers with JSON if there is but the answer to give, and with an event stream else. */
export class HttpExchange implements Exchange {
  readonly headers: Readonly<Record<string, string>>;
  readonly person: Exchange['person'];
  readonly isReplay: boolean;
  readonly #options: HttpExchangeOptions;
  readonly #response: ServerResponse;
  readonly #left = new AbortController();
  readonly #missing: Set<string>;
  readonly #isStream: boolean;
  #isResumable = false;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(options: HttpExchangeOptions) {
    const { response, headers, requests, isReplay = false } = options;
    this.#options = options;
    this.#response = response;
    this.headers = headers;
    this.person = options.person;
    this.isReplay = isReplay;
    this.#isStream = requests === 'stream';
    this.#missing = new Set(requests === 'stream' ? [] : requests.map(({ id }) => keyOf(id)));
    response.once('close', () => {
      clearInterval(this.#keepAlive);
      // A stream with positions can be resumed: whoever leaves it may come back.
      if (!response.writableEnded && (!this.#isResumable || this.#isStream)) this.#left.abort();
    });
    response.on('error', () => {});
  }

  get left(): AbortSignal {
    return this.#left.signal;
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  async deliver(message: Message, mark?: Mark): Promise<void> {
    if (!this.isOpen) return;
    const answers = partsOf(message).filter((part) => asResponse(part) !== undefined);
    if (this.#options.isForeign === true && answers.length > 0) {
      for (const answer of answers) {
        await this.#write(errorMessage(asResponse(answer)?.id, -32_000, elsewhere).text, mark);
      }
      return;
    }
    for (const answer of answers) this.#missing.delete(keyOf(asResponse(answer)?.id));
    const isLast = this.#missing.size === 0 && !this.#isStream;
    if (isLast && answers.length > 0 && !this.#response.headersSent && mark?.id === undefined) {
      this.#answer(this.#options.statusOf(message), 'application/json', message.text);
      return;
    }
    await this.#write(message.text, mark);
    if (isLast && answers.length > 0) this.end();
  }

  async mark(mark: Mark): Promise<void> {
    if (this.isOpen) await this.#write('', mark);
  }

  accept(): void {
    if (this.#isStream) this.#open();
    else if (this.#missing.size === 0 && this.isOpen && !this.#response.headersSent) this.#answer(202, '', '');
  }

  refuse({ status, contentType, body }: Refusal, _requests: readonly JsonId[] = []): void {
    if (!this.isOpen) return;
    if (this.#response.headersSent) this.end();
    else this.#answer(status, contentType, body);
  }

  end(): void {
    if (!this.isOpen) return;
    if (!this.#response.headersSent) this.#open();
    this.#response.end();
  }

  /** Ends it, and what goes on behind it. */
  cut(): void {
    this.end();
    this.#left.abort();
  }

  #answer(status: number, contentType: string, body: string): void {
    const type = contentType === '' ? {} : { 'content-type': contentType };
    this.#response.writeHead(status, { ...type, ...this.#options.answerHeaders() });
    this.#response.end(body);
    if (body !== '') this.#options.holdAnswer(body.length);
  }

  #open(): void {
    if (this.#response.headersSent || !this.isOpen) return;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...this.#options.answerHeaders(),
    });
    this.#response.flushHeaders();
    this.#keepAlive = setInterval(() => this.#response.write(': still here\n\n'), keepAliveMs).unref();
  }

  async #write(data: string, mark: Mark | undefined): Promise<void> {
    this.#open();
    if (mark?.id !== undefined) {
      this.#isResumable = true;
      if (this.#options.isForeign !== true) this.#options.positions?.add(mark.id);
    }
    await written(this.#response, eventText(data, mark));
  }
}
