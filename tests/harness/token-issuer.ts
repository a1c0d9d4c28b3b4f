import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
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

/** How its endpoint behaves. A script answers by itself, or never. */
export type Behaviour = 'well' | ((response: ServerResponse) => void);

/** An issuer of JWTs on loopback that publishes its keys, changes them, and misbehaves if a test wants it to. */
export class TokenIssuer {
  readonly url: string;
  /** The keys that it publishes, the newest last. */
  readonly keys: SigningKey[] = [];
  behaviour: Behaviour = 'well';
  asked = 0;
  readonly #close: () => Promise<void>;
  #made = 0;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  /** A file of `SVC_SUBJECTS` that names this issuer alone. */
  get subjects(): string {
    return `- {issuer: "${this.url}", audience: reeve, jwks_uri: "${this.jwksUri}"}\n`;
  }

  static async start(alg: Algorithm = 'ES256'): Promise<TokenIssuer> {
    const server = createServer((_request, response) => {
      issuer.asked++;
      if (issuer.behaviour === 'well') response.end(issuer.keySet());
      else issuer.behaviour(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const issuer = new TokenIssuer(`http://127.0.0.1:${port}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    await issuer.addKey(alg);
    return issuer;
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

  close(): Promise<void> {
    return this.#close();
  }
}
