import { randomUUID } from 'node:crypto';
import type { JsonObject, Message, Response } from './protocol/message.ts';
import { isObject, keyOf, messageOf } from './protocol/message.ts';

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

  /** Whether this is the answer to one of them. */
  take({ id, result, error }: Response): boolean {
    const answer = this.#open.get(keyOf(id));
    if (answer === undefined) return false;
    if (error === undefined) answer.resolve(isObject(result) ? result : {});
    else answer.reject(new Error(isObject(error) ? String(error['message']) : 'the server answers with an error'));
    return true;
  }

  fail(error: Error): void {
    for (const answer of this.#open.values()) answer.reject(error);
  }
}
