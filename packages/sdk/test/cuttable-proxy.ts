import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/**
 * A port in front of another. A test can cut its connections, as a failing network or a killed process would, and make
 * it silent, as a stopped process is.
 */
export class CuttableProxy {
  readonly port: number;
  /** How many connections there have been. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silent = false;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (near) => this.#join(near, connect({ port: target, host: '127.0.0.1', noDelay: true })));
  }

  static async start(target: number, port = 0): Promise<CuttableProxy> {
    const server = createServer({ noDelay: true });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new CuttableProxy(server, target);
  }

  get open(): number {
    return this.#sockets.size / 2;
  }

  /** Nothing arrives any more, either way. New connections are accepted. */
  silence(): void {
    this.#silent = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #join(near: Socket, far: Socket): void {
    this.connections++;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      if (!this.#silent) socket.pipe(other);
    }
  }
}
