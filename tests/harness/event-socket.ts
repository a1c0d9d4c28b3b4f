import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { ReeveEvent, StreamMessage } from '@reeve/contract/events';
import { streamMessageSchema } from '@reeve/contract/events';
import type { Problem } from '@reeve/contract/http';
import { commonProblems, problemSchema, routes } from '@reeve/contract/http';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from './eventually.ts';
import { bootstrapKey } from './gateway.ts';

export interface SocketOptions {
  /** The bootstrap key by default, unless there is a ticket. */
  readonly bearer?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The certificate to trust. */
  readonly ca?: Buffer;
}

/** How often to retry: much data may have to arrive on a busy machine. */
const patience = 1000;

/** Follows events over a WebSocket, and checks every message against the contract. */
export class EventSocket {
  readonly socket: WebSocket;
  readonly messages: StreamMessage[] = [];
  /** The headers of the opening answer. */
  readonly headers: IncomingMessage['headers'];
  readonly closed: Promise<{ code: number; reason: string }>;

  private constructor(socket: WebSocket, headers: IncomingMessage['headers']) {
    this.socket = socket;
    this.headers = headers;
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** Opens a stream and waits for its first message. */
  static async open(base: string, options: SocketOptions = {}): Promise<EventSocket> {
    const socket = connect(base, options);
    const early: string[] = [];
    const take = (data: Buffer) => early.push(data.toString());
    socket.on('message', take);
    const upgraded = once(socket, 'upgrade') as Promise<[IncomingMessage]>;
    const failed = once(socket, 'unexpected-response').then(([, answer]) => answer as IncomingMessage);
    const answer = await Promise.race([upgraded.then(([response]) => response), failed]);
    if (answer.statusCode !== 101) throw new Error(`refused with ${answer.statusCode}: ${await bodyOf(answer)}`);
    const opened = new EventSocket(socket, answer.headers);
    socket.off('message', take);
    socket.on('message', (data: Buffer) => opened.#take(data.toString()));
    for (const text of early) opened.#take(text);
    await eventually(() => expect(opened.messages[0]).toMatchObject({ event_type: 'hello' }));
    return opened;
  }

  /** Requests a stream that the gateway must refuse before it opens. */
  static async refused(
    base: string,
    options: SocketOptions = {},
  ): Promise<{ status: number; problem: Problem; headers: IncomingMessage['headers'] }> {
    const socket = connect(base, options);
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    const problem = problemSchema.parse(JSON.parse(await bodyOf(answer)));
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
    expect(problem.status).toBe(answer.statusCode);
    expect(commonProblems(routes.eventSocket)).toContain(problem.code);
    if (answer.statusCode === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
    return { status: answer.statusCode ?? 0, problem, headers: answer.headers };
  }

  /** The id of the newest event when the stream was opened. */
  get cursor(): number {
    const [hello] = this.messages;
    if (hello?.event_type !== 'hello') throw new Error('the first message is not a hello');
    return hello.cursor;
  }

  get events(): ReeveEvent[] {
    return this.messages.filter((message) => message.event_type !== 'hello' && message.event_type !== 'gap');
  }

  get hasGap(): boolean {
    return this.messages.some((message) => message.event_type === 'gap');
  }

  /** Waits for this many events, and returns them. */
  async received(count: number): Promise<ReeveEvent[]> {
    await eventually(() => expect(this.events.length).toBeGreaterThanOrEqual(count), patience);
    return this.events;
  }

  /** Waits for a matching event, which comes after all earlier ones. */
  async until(wanted: (event: ReeveEvent) => boolean): Promise<ReeveEvent> {
    return await eventually(() => {
      const found = this.events.find(wanted);
      if (found === undefined) throw new Error(`no such event among ${this.events.length}`);
      return found;
    }, patience);
  }

  close(): void {
    this.socket.close();
  }

  #take(text: string): void {
    const message: unknown = JSON.parse(text);
    const parsed = streamMessageSchema.safeParse(message);
    // Some streams have ten thousands of them, and each expectation costs more than reading the message.
    if (!parsed.success) expect(parsed.error.issues, text).toEqual([]);
    this.messages.push(message as StreamMessage);
  }
}

function connect(base: string, { bearer, query = {}, headers = {}, ca }: SocketOptions): WebSocket {
  const credential = bearer ?? (query['ticket'] === undefined ? bootstrapKey : undefined);
  const url = `${base.replace('http', 'ws')}/api/v1/ws/events?${new URLSearchParams(query).toString()}`;
  const socket = new WebSocket(url, {
    ...(ca === undefined ? {} : { ca }),
    headers: {
      ...(credential === undefined || credential === '' ? {} : { authorization: `Bearer ${credential}` }),
      ...headers,
    },
  });
  socket.on('error', () => undefined);
  return socket;
}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
