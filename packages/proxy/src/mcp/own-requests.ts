import { randomUUID } from 'node:crypto';
import type { Message } from './protocol/message.ts';
import type { JsonObject } from './protocol/written-json.ts';
import { asResponse, keyOf, messageOf, writtenValue } from './protocol/message.ts';
import { isObject } from './protocol/written-json.ts';

const patienceMs = 30_000;

/** What the proxy itself asks a server, beside the client. Its ids are such that no client has them. */
export class OwnRequests {
  readonly #open = new Map<string, PromiseWithResolvers<JsonObject>>();

  async ask(method: string, params: JsonObject, send: (question: Message) => Promise<void>): Promise<JsonObject> {
    const id = `reeve-${randomUUID()}`;
    const answer = Promise.withResolvers<JsonObject>();
    answer.promise.catch(() => {});
    this.#open.set(keyOf(id), answer);
    const timer = setTimeout(() => answer.reject(new Error('the server does not answer')), patienceMs).unref();
    try {
      await send(messageOf({ jsonrpc: '2.0', id, method, params }));
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      this.#open.delete(keyOf(id));
    }
  }

  /** Whether this is the answer to one of them. Whoever asked gets numbers as they were written. */
  take(message: Message): boolean {
    const { id, error } = asResponse(message) ?? {};
    const answer = this.#open.get(keyOf(id));
    if (answer === undefined) return false;
    const { result } = writtenValue(message) as JsonObject;
    if (error === undefined) answer.resolve(isObject(result) ? result : {});
    else answer.reject(new Error(isObject(error) ? String(error['message']) : 'the server answers with an error'));
    return true;
  }

  fail(error: Error): void {
    for (const answer of this.#open.values()) answer.reject(error);
  }
}
