import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** How a file is delivered: as a whole, or cut short with or without its length said before. */
export type Delivery = 'whole' | 'cut' | 'cut without length';

/** The place of a release on loopback, which serves the files of a folder. */
export class ReleaseServer {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(url: string, server: Server) {
    this.url = url;
    this.#server = server;
  }

  static async start(folder: string, delivery: (name: string) => Delivery = () => 'whole'): Promise<ReleaseServer> {
    const server = createServer((request, response) => {
      const name = (request.url ?? '').slice(1);
      started.asked.push(name);
      const file = join(folder, name);
      if (!existsSync(file)) return void response.writeHead(404).end();
      const content = readFileSync(file);
      const how = delivery(name);
      if (how === 'whole') return void response.writeHead(200, { 'content-length': content.length }).end(content);
      const half = content.subarray(0, content.length / 2);
      if (how === 'cut without length') return void response.writeHead(200).end(half);
      response.writeHead(200, { 'content-length': content.length });
      response.write(half, () => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new ReleaseServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
