import { createInterface } from 'node:readline';
import type { DoorProcess } from './door-process.ts';

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

type Pending = PromiseWithResolvers<unknown>;

/** The client of an MCP server: one line of JSON for each message. */
export class McpClient {
  readonly #server: DoorProcess;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(server: DoorProcess) {
    this.#server = server;
    createInterface({ input: server.stdout }).on('line', (line) => this.#take(JSON.parse(line) as Answer));
  }

  async introduce(name: string): Promise<void> {
    const clientInfo = { name, version: '1.0.0' };
    await this.#ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#send({ method: 'notifications/initialized' });
    await this.#ask('tools/list', {});
  }

  /** Calls a tool. What the server or the proxy says to it is no error here. */
  async call(name: string, args: object): Promise<void> {
    await this.#ask('tools/call', { name, arguments: args });
  }

  async #ask(method: string, params: object): Promise<unknown> {
    const id = ++this.#lastId;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    this.#send({ id, method, params });
    return Promise.race([pending.promise, this.#server.failed()]).finally(() => this.#pending.delete(id));
  }

  #send(message: object): void {
    this.#server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #take({ id = 0, result, error }: Answer): void {
    const pending = this.#pending.get(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(error.message));
  }
}
