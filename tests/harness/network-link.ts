import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';

/** A network to a gateway, or to a database, that can be cut and mended, and be slow. */
export class NetworkLink {
  readonly http: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  #delayMs = 0;
  #isOneWay = false;

  private constructor(server: ReturnType<typeof createServer>, http: string) {
    this.#server = server;
    this.http = http;
  }

  static async to(gateway: { readonly http: string }): Promise<NetworkLink> {
    const { hostname, port } = new URL(gateway.http);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const link = new NetworkLink(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('connection', (near) => link.#join(near, () => connect(Number(port), hostname)));
    return link;
  }

  /** What is connected is torn, what comes is refused. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** What is sent still arrives, and nothing comes back. */
  loseAnswers(): void {
    this.#isOneWay = true;
  }

  mend(): void {
    this.#isCut = false;
    this.#isOneWay = false;
  }

  /** From now on, each piece of what is sent takes so long. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, dial: () => Socket): void {
    if (this.#isCut) {
      near.destroy();
      return;
    }
    const far = dial();
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(this.#distance(socket === far)).pipe(other);
    }
  }

  #distance(isBack: boolean): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (isBack && this.#isOneWay) done();
        else if (this.#delayMs === 0) done(null, chunk);
        else setTimeout(() => done(null, chunk), this.#delayMs);
      },
    });
  }
}
