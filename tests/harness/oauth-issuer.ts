import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface TokenRequest {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

type Answer = (request: TokenRequest, response: ServerResponse) => void | Promise<void>;

interface Signed {
  readonly typ?: string;
  readonly kid?: string;
  readonly key?: CryptoKey;
  /** Seconds from now. */
  readonly expiresIn?: number;
}

/**
 * An issuer of tokens on loopback: its document, its keys, and a token endpoint for the grants of machines. What it
 * answers there a test may replace.
 */
export class OAuthIssuer implements AsyncDisposable {
  readonly url: string;
  readonly requests: TokenRequest[] = [];
  /** The paths that were asked for. */
  readonly seen: string[] = [];
  /** Replaces the answer of the token endpoints. */
  answer: Answer | undefined;
  /** Replaces the document. */
  document: Record<string, unknown> = {};
  /** Replaces the answer to whoever asks for keys. */
  keysAnswer: ((response: ServerResponse) => void) | undefined;
  expiresIn = 3600;
  keys: JWK[];
  readonly #server: Server;
  readonly #key: CryptoKey;
  #issued = 0;

  private constructor(server: Server, key: CryptoKey, keys: JWK[]) {
    this.#server = server;
    this.#key = key;
    this.keys = keys;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response));
  }

  static async start(): Promise<OAuthIssuer> {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OAuthIssuer(server, privateKey, [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }]);
  }

  /** A token of this issuer, unless the claims say otherwise. */
  sign(
    claims: JWTPayload,
    { typ = 'at+jwt', kid = 'one', key = this.#key, expiresIn = 3600 }: Signed = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ iss: this.url, iat: now, exp: now + expiresIn, ...claims })
      .setProtectedHeader({ alg: 'ES256', typ, kid })
      .sign(key);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.seen.push(path);
    if (path === '/.well-known/oauth-authorization-server') {
      const document = { issuer: this.url, jwks_uri: `${this.url}/jwks`, token_endpoint: `${this.url}/token` };
      return send(response, 200, { ...document, ...this.document });
    }
    if (path === '/jwks') {
      if (this.keysAnswer !== undefined) return this.keysAnswer(response);
      return send(response, 200, { keys: this.keys });
    }
    if (request.method !== 'POST') return send(response, 404, {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const parameters = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const asked = { path, parameters, authorization: request.headers.authorization };
    this.requests.push(asked);
    if (this.answer !== undefined) return this.answer(asked, response);
    const isAssertion = parameters['requested_token_type']?.endsWith(':id-jag') === true;
    send(response, 200, {
      access_token: `${isAssertion ? 'assertion' : 'access'}-${++this.#issued}`,
      token_type: isAssertion ? 'N_A' : 'Bearer',
      issued_token_type: `urn:ietf:params:oauth:token-type:${isAssertion ? 'id-jag' : 'access_token'}`,
      expires_in: this.expiresIn,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
