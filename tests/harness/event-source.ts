import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { ReeveEvent, StreamMessage } from '@reeve/contract/events';
import { streamMessageSchema } from '@reeve/contract/events';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import { bootstrapKey } from './gateway.ts';

/** A Server-Sent Events message, as sent. */
export interface SentMessage {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: StreamMessage;
}

export interface SourceOptions {
  /** The bootstrap key by default, unless there is a ticket. */
  readonly bearer?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How often to retry: much data may have to arrive on a busy machine. */
const patience = 1000;

/** Follows Server-Sent Events, and checks every message against the contract. */
export class EventSource {
  readonly response: IncomingMessage;
  readonly sent: SentMessage[] = [];
  readonly comments: string[] = [];
  /** Whether the gateway ended the stream cleanly, or cut it off. */
  readonly ended: Promise<'ended' | 'cut'>;
  #rest = '';

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      response.on('close', () => resolve(response.complete ? 'ended' : 'cut'));
    });
  }

  /** Opens a stream and waits for its first message. */
  static async open(base: string, { bearer, query = {}, headers = {} }: SourceOptions = {}): Promise<EventSource> {
    const credential = bearer ?? (query['ticket'] === undefined ? bootstrapKey : undefined);
    const asked = request(`${base}/api/v1/events?${new URLSearchParams(query).toString()}`, {
      agent: false,
      headers: { ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }), ...headers },
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`refused with ${response.statusCode}`);
    expect(response.headers['content-type']).toBe('text/event-stream');
    const source = new EventSource(response);
    await eventually(() => expect(source.sent[0]?.data).toMatchObject({ event_type: 'hello' }));
    return source;
  }

  get messages(): StreamMessage[] {
    return this.sent.map(({ data }) => data);
  }

  get events(): ReeveEvent[] {
    return this.messages.filter((message) => message.event_type !== 'hello' && message.event_type !== 'gap');
  }

  async received(count: number): Promise<ReeveEvent[]> {
    await eventually(() => expect(this.events.length).toBeGreaterThanOrEqual(count), patience);
    return this.events;
  }

  close(): void {
    this.response.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) this.comments.push(block);
      else this.#message(block);
    }
  }

  #message(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    const data = JSON.parse(fields.get('data') ?? '') as StreamMessage;
    expect(streamMessageSchema.safeParse(data).error?.issues ?? [], block).toEqual([]);
    this.sent.push({ id: fields.get('id'), event: fields.get('event'), data });
  }
}
