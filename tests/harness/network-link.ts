import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';

/** A network link to a gateway or a database. A test can cut, restore and slow it. */
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

  /** Breaks open connections and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Requests still arrive, but no answer returns. */
  loseAnswers(): void {
    this.#isOneWay = true;
  }

  mend(): void {
    this.#isCut = false;
    this.#isOneWay = false;
  }

  /** From now on, delays each chunk by this long. */
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
