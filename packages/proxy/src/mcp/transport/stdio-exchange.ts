import type { Writable } from 'node:stream';
import type { Person } from '../person.ts';
import type { JsonId, Message } from '../protocol/message.ts';
import { asResponse, errorMessage, keyOf, parseMessage } from '../protocol/message.ts';
import type { Exchange, Refusal } from './exchange.ts';
import { written } from './written.ts';

/** A client on standard input and output: one exchange for everything. */
export class StdioExchange implements Exchange {
  readonly headers = undefined;
  readonly isReplay = false;
  readonly #output: Writable;
  readonly #person: () => Person | undefined;
  readonly #left = new AbortController();

  /** `person` is asked anew for each message: tokens on this machine are replaced while the client goes on. */
  constructor(output: Writable, person: () => Person | undefined) {
    this.#output = output;
    this.#person = person;
    output.on('error', () => this.leave());
  }

  get person(): Person | undefined {
    return this.#person();
  }

  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** The client has closed its end. */
  leave(): void {
    this.#left.abort();
  }

  deliver(message: Message): Promise<void> {
    return written(this.#output, `${message.text}\n`);
  }

  async mark(): Promise<void> {}

  accept(): void {}

  refuse({ status, body }: Refusal, requests: readonly JsonId[]): void {
    const said = parseMessage(body);
    const answer = said === undefined ? undefined : asResponse(said);
    const reason = textOf(answer?.error) ?? `the MCP server answered HTTP ${status}`;
    for (const id of requests) {
      const isIts = said !== undefined && answer !== undefined && keyOf(answer.id) === keyOf(id);
      void this.deliver(isIts ? said : errorMessage(id, -32_000, reason));
    }
  }

  end(): void {}
}

function textOf(error: unknown): string | undefined {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  return typeof message === 'string' ? message : undefined;
}
