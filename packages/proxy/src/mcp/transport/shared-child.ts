import { metaOf, subscriptionKey } from '../protocol/envelope.ts';
import type { JsonId, Message } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { asNotification, asRequest, asResponse, edited, keyOf } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';
import type { Exchange } from './exchange.ts';
import type { ServerCommand } from './stdio-child.ts';
import { StdioChild } from './stdio-child.ts';
import type { Upstream, UpstreamEvents } from './upstream.ts';
import { inTime, UpstreamGone } from './upstream.ts';

interface PendingRequest {
  readonly events: UpstreamEvents;
  readonly id: JsonId;
  readonly token: unknown;
  /** The numbers of that exchange, by its own ids. */
  readonly numbers: Map<string, number>;
}

/**
 * One server for many exchanges that know nothing of each other, as the stateless revision has them over HTTP. Each
 * numbers its requests as it likes, so requests get other ids and progress tokens on their way to the server.
 */
export class SharedChild {
  readonly #child: StdioChild;
  readonly #pending = new Map<number, PendingRequest>();
  #last = 0;
  gone: UpstreamGone | undefined;

  constructor(command: ServerCommand, noise: () => void) {
    this.#child = new StdioChild(command, {
      message: (message) => this.#take(message),
      gone: (why) => this.#lose(why),
      noise,
    });
  }

  get idle(): boolean {
    return this.#pending.size === 0;
  }

  /** The server as one exchange sees it. */
  view(events: UpstreamEvents): Upstream {
    const numbers = new Map<string, number>();
    const forget = (number: number) => this.#pending.delete(number);
    return {
      hasExchanges: false,
      send: async (message) => {
        if (this.gone !== undefined) events.gone(this.gone);
        else await this.#child.send(this.#renumbered(message, events, numbers));
      },
      cancel: async (id, notification) => {
        const number = numbers.get(keyOf(id));
        if (number === undefined) return;
        forget(number);
        await inTime(this.#child.send(edited(notification, (value) => withParams(value, { requestId: number }))));
      },
      listen: (exchange: Exchange) => exchange.accept(),
      close: async () => {
        for (const number of numbers.values()) forget(number);
      },
    };
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  close(): Promise<void> {
    this.gone ??= new UpstreamGone('the MCP server was stopped', true);
    return this.#child.close();
  }

  #renumbered(message: Message, events: UpstreamEvents, numbers: Map<string, number>): Message {
    const request = asRequest(message);
    if (request === undefined) return message;
    const number = ++this.#last;
    const token = metaOf(request.params)['progressToken'];
    this.#pending.set(number, { events, id: request.id, token, numbers });
    numbers.set(keyOf(request.id), number);
    return edited(message, (value) => ({
      ...(token === undefined ? value : withMeta(value, { progressToken: number })),
      id: number,
    }));
  }

  async #take(message: Message): Promise<void> {
    const response = asResponse(message);
    if (response !== undefined) {
      const asked = this.#find(response.id);
      if (asked === undefined) return;
      this.#pending.delete(response.id as number);
      asked.numbers.delete(keyOf(asked.id));
      const subscribed = isObject(response.result) && subscriptionKey in metaOf(response.result);
      return asked.events.message(edited(message, (value) => answerWithId(value, asked.id, subscribed)));
    }
    const params = asNotification(message)?.params;
    const progress = this.#find(params?.['progressToken']);
    if (progress !== undefined) {
      return progress.events.message(edited(message, (value) => withParams(value, { progressToken: progress.token })));
    }
    const subscription = this.#find(metaOf(params)[subscriptionKey]);
    if (subscription === undefined) return;
    // What the server says to nobody in particular has nobody to go to.
    await subscription.events.message(
      edited(message, (value) => withMeta(value, { [subscriptionKey]: subscription.id })),
    );
  }

  #find(number: unknown): PendingRequest | undefined {
    return typeof number === 'number' ? this.#pending.get(number) : undefined;
  }

  #lose(why: UpstreamGone): void {
    this.gone = why;
    const all = new Set([...this.#pending.values()].map(({ events }) => events));
    this.#pending.clear();
    for (const events of all) events.gone(why);
  }
}

function withParams(value: JsonObject, members: JsonObject): JsonObject {
  const params = isObject(value['params']) ? value['params'] : {};
  return { ...value, params: { ...params, ...members } };
}

function withMeta(value: JsonObject, members: JsonObject): JsonObject {
  return withParams(value, { _meta: { ...metaOf(value['params']), ...members } });
}

function answerWithId(value: JsonObject, id: JsonId, subscribed: boolean): JsonObject {
  if (!subscribed || !isObject(value['result'])) return { ...value, id };
  const meta = { ...metaOf(value['result']), [subscriptionKey]: id };
  return { ...value, id, result: { ...value['result'], _meta: meta } };
}
