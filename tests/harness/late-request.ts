import type { Socket } from 'node:net';
import { openSocket, rawAnswer } from './raw-http.ts';
import type { RawAnswer } from './raw-http.ts';

/** A request of which the gateway has the head with the credential, and waits for the body. */
export class LateRequest {
  readonly #socket: Socket;
  readonly #body: string;
  readonly #answer: Promise<RawAnswer>;

  private constructor(socket: Socket, body: string) {
    this.#socket = socket;
    this.#body = body;
    this.#answer = rawAnswer(socket);
  }

  static async begin(
    base: string,
    { method, path, headers = [] }: { method: string; path: string; headers?: readonly string[] },
    bearer: string,
    json: unknown = {},
  ): Promise<LateRequest> {
    const body = JSON.stringify(json);
    const socket = await openSocket(base);
    const lines = [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Authorization: Bearer ${bearer}`,
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return new LateRequest(socket, body);
  }

  /** Sends the body. The answer may come much later. */
  complete(): void {
    this.#socket.write(this.#body);
  }

  get answer(): Promise<RawAnswer> {
    return this.#answer;
  }
}
