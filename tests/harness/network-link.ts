import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';

/** A network link to a gateway, a database or NATS. A test can cut, silence, restore and slow it. */
export class NetworkLink {
  readonly http: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  /** What waits for the end of the silence, in order. Undefined if there is none. */
  #held: (() => void)[] | undefined;
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

  get port(): number {
    return Number(new URL(this.http).port);
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

  /**
   * From now on nothing arrives at either end, not even that the other end has closed. Nobody is told. As on a real
   * network, what was sent meanwhile arrives late, after `mend`.
   */
  silence(): void {
    this.#held ??= [];
  }

  mend(): void {
    this.#isCut = false;
    this.#isOneWay = false;
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const deliver of held) deliver();
  }

  /** From now on, delays each chunk by this long. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#held = undefined;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, dial: () => Socket): void {
    if (this.#isCut) {
      near.destroy();
      return;
    }
    if (this.#held !== undefined) {
      near.on('error', () => undefined);
      this.#sockets.add(near);
      near.on('close', () => this.#sockets.delete(near));
      this.#held.push(() => this.#join(near, dial));
      return;
    }
    if (near.destroyed) return;
    const far = dial();
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        // After a silence, what was sent before the end arrives first.
        if (this.#held === undefined) other.destroy();
        else this.#held.push(() => setImmediate(() => other.destroySoon()));
      });
      socket.pipe(this.#distance(socket === far)).pipe(other);
    }
  }

  #distance(isBack: boolean): Transform {
    return new Transform({
      flush: (done) => {
        if (this.#held === undefined) done();
        else this.#held.push(done);
      },
      transform: (chunk: Buffer, _encoding, done) => {
        if (this.#held !== undefined) this.#held.push(() => done(null, chunk));
        else if (isBack && this.#isOneWay) done();
        else if (this.#delayMs === 0) done(null, chunk);
        else setTimeout(() => done(null, chunk), this.#delayMs);
      },
    });
  }
}
