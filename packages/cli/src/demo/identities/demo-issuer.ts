import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** For whom the tokens of the demo are. */
export const demoAudience = 'reeve-demo';

/** The demo's own identity provider, on loopback: it vouches for people and for workloads, and publishes its key. */
export class DemoIssuer implements AsyncDisposable {
  readonly url: string;
  readonly #key: KeyObject;
  readonly #kid: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, key: KeyObject, kid: string, close: () => Promise<void>) {
    this.url = url;
    this.#key = key;
    this.#kid = kid;
    this.#close = close;
  }

  static async start(): Promise<DemoIssuer> {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = randomUUID();
    const keys = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] });
    const server = createServer((_request, response) =>
      response.setHeader('content-type', 'application/json').end(keys),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new DemoIssuer(`http://127.0.0.1:${port}`, privateKey, kid, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
  }

  get jwksUri(): string {
    return `${this.url}/keys`;
  }

  /** A token that lasts so many seconds. */
  token(claims: Readonly<Record<string, unknown>>, seconds: number): string {
    const now = Math.floor(Date.now() / 1000);
    const header = { alg: 'ES256', kid: this.#kid, typ: 'JWT' };
    const body = { iss: this.url, aud: demoAudience, iat: now, exp: now + seconds, ...claims };
    const signed = [header, body].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
