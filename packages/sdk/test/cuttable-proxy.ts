import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A port in front of another. A test can cut its connections, as a failing network or a killed process would. */
export class CuttableProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(target: number, port = 0): Promise<CuttableProxy> {
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (near) => {
      const far = connect({ port: target, host: '127.0.0.1', noDelay: true });
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new CuttableProxy(server, sockets);
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
}
