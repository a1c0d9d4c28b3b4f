import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CryptoKey, JWK } from 'jose';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA';

interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** How it answers who asks for its keys. A script answers by itself, or never. */
export type Behaviour = 'well' | ((response: ServerResponse) => void);

/** What a token endpoint was asked for. */
export interface TokenRequest {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

type Answer = (request: TokenRequest, response: ServerResponse) => void | Promise<void>;

/**
 * An issuer of JWTs on loopback: its document, its keys, which it changes, and token endpoints for the grants of machines,
 * at any path. It misbehaves if a test wants it to.
 */
export class TokenIssuer implements AsyncDisposable {
  readonly url: string;
  /** The keys that it publishes, the newest last. */
  readonly keys: SigningKey[] = [];
  behaviour: Behaviour = 'well';
  /** How often its keys were asked for. */
  asked = 0;
  /** Replaces members of the document. */
  document: Readonly<Record<string, unknown>> = {};
  /** What the token endpoints were asked for. */
  readonly requests: TokenRequest[] = [];
  /** Replaces the answer of the token endpoints. */
  answer: Answer | undefined;
  /** The life that the token endpoints tell. */
  expiresIn = 3600;
  readonly #server: Server;
  #made = 0;
  #granted = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response));
  }

  static async start(alg: Algorithm = 'ES256'): Promise<TokenIssuer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = new TokenIssuer(server);
    await issuer.addKey(alg);
    return issuer;
  }

  /** A file of `SVC_SUBJECTS` that names this issuer alone. */
  get subjects(): string {
    return `- {issuer: "${this.url}", audience: reeve, jwks_uri: "${this.jwksUri}"}\n`;
  }

  get jwksUri(): string {
    return `${this.url}/keys`;
  }

  keySet(): string {
    return JSON.stringify({ keys: this.keys.map(({ publicJwk }) => publicJwk) });
  }

  /** Signs with another key from now on. */
  async addKey(alg: Algorithm = 'ES256'): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${++this.#made}`;
    this.keys.push({ alg, kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } });
  }

  /** A token of an hour, unless the claims say otherwise. A claim that is undefined is left out. */
  async sign(claims: Readonly<Record<string, unknown>> = {}, header: Readonly<Record<string, unknown>> = {}) {
    const key = this.keys.at(-1);
    if (key === undefined) throw new Error('the issuer has no key');
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, aud: 'reeve', exp: now + 3600, iat: now, ...claims };
    const protectedHeader = Object.fromEntries(
      Object.entries({ alg: key.alg, kid: key.kid, ...header }).filter(([, value]) => value !== undefined),
    );
    return new SignJWT(JSON.parse(JSON.stringify(all)) as Record<string, unknown>)
      .setProtectedHeader(protectedHeader as { alg: string })
      .sign(key.privateKey);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (path === '/.well-known/oauth-authorization-server') {
      const document = { issuer: this.url, jwks_uri: this.jwksUri, token_endpoint: `${this.url}/token` };
      return send(response, 200, { ...document, ...this.document });
    }
    if (request.method === 'POST') return this.#grant(request, response);
    if (path !== '/keys') return send(response, 404, {});
    this.asked++;
    if (this.behaviour === 'well') response.end(this.keySet());
    else this.behaviour(response);
  }

  async #grant(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const parameters = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const asked = { path: request.url ?? '', parameters, authorization: request.headers.authorization };
    this.requests.push(asked);
    if (this.answer !== undefined) return this.answer(asked, response);
    const isAssertion = parameters['requested_token_type']?.endsWith(':id-jag') === true;
    send(response, 200, {
      access_token: `${isAssertion ? 'assertion' : 'access'}-${++this.#granted}`,
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
