import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import { exportJWK, generateKeyPair } from 'jose';
// @ts-expect-error the package has no types
import Untyped from 'oidc-provider';

interface Grant {
  addOIDCScope(scope: string): void;
  addResourceScope(resource: string, scope: string): void;
  save(): unknown;
}

interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly params: { readonly resource?: string };
    readonly provider: { readonly Grant: new (of: object) => Grant };
  };
}

const Provider = Untyped as new (
  issuer: string,
  configuration: object,
) => { callback(): (request: IncomingMessage, response: ServerResponse) => void };

/** What a token says in place of what the server would. A member that is undefined is left out. */
export interface TokenShape {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface AuthorizationServerOptions {
  /** Of access tokens. */
  readonly lifeSecs?: number;
  /** Clients that get tokens for themselves. */
  readonly machines?: readonly string[];
  /** By the name of a person or machine. */
  readonly shapeOf?: (subject: string) => TokenShape;
}

const machineSecret = 'a secret of machines';
/** What comes after it is the audience, which may be no address. */
const audiencePrefix = 'urn:audience:';

/**
 * A real authorization server on loopback, for people of MCP servers: it registers clients, demands PKCE, issues tokens
 * for a resource, and rotates refresh tokens. A refresh token that comes twice ends the login.
 */
export class AuthorizationServer implements AsyncDisposable {
  readonly url: string;
  /** The paths that were asked for. */
  readonly seen: string[] = [];
  readonly #server: Server;
  readonly #options: AuthorizationServerOptions;
  /** The newest first: it signs. */
  #keys: readonly JWK[] = [];
  #answer: (request: IncomingMessage, response: ServerResponse) => void;

  private constructor(server: Server, options: AuthorizationServerOptions, key: JWK) {
    this.#server = server;
    this.#options = options;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#answer = this.#publish([key]);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.seen.push(`${request.method} ${request.url?.split('?')[0]}`);
      this.#answer(request, response);
    });
  }

  static async start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new AuthorizationServer(server, options, await newKey());
  }

  #publish(keys: readonly JWK[]) {
    this.#keys = keys;
    return new Provider(this.url, configuration(this.#options, this.#landing, keys)).callback();
  }

  /** Signs with another key from now on. The former ones stay published until they are withdrawn. */
  async rotateKeys(): Promise<void> {
    this.#answer = this.#publish([await newKey(), ...this.#keys]);
  }

  /** Publishes nothing but the key that signs. */
  withdrawKeys(): void {
    this.#answer = this.#publish(this.#keys.slice(0, 1));
  }

  /** Another site, where people come out of the login. */
  get #landing(): string {
    return `${this.url.replace('127.0.0.1', 'localhost')}/landing`;
  }

  /** A token that a machine gets for itself, for an audience. */
  async machineToken(name: string, audience: string): Promise<string> {
    const authorization = `Basic ${btoa(`${name}:${encodeURIComponent(machineSecret)}`)}`;
    return this.#token(
      { grant_type: 'client_credentials', resource: `${audiencePrefix}${audience}` },
      { authorization },
    );
  }

  /** A token that an app gets for a person, who signs in at the server: by code and PKCE. */
  async personToken(name: string, resource: string, scope: string): Promise<string> {
    const verifier = randomBytes(32).toString('base64url');
    const app = { client_id: 'app', redirect_uri: this.#landing, resource };
    const question = new URLSearchParams({
      ...{ ...app, response_type: 'code', scope, code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    });
    const { url } = await this.signIn(`${this.url}/auth?${question.toString()}`, name);
    const code = new URL(url).searchParams.get('code');
    if (code === null) throw new Error(`the server gave no code: ${url}`);
    return this.#token({ ...app, grant_type: 'authorization_code', code, code_verifier: verifier });
  }

  async #token(parameters: Readonly<Record<string, string>>, headers: Record<string, string> = {}): Promise<string> {
    const answer = await fetch(`${this.url}/token`, { method: 'POST', headers, body: new URLSearchParams(parameters) });
    const { access_token: token } = (await answer.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`the server gave no token: ${answer.status}`);
    return token;
  }

  /** What a person does in the browser: goes to an address, signs in, and follows until the browser leaves. */
  async signIn(address: string, name: string): Promise<Response> {
    const jar = new Map<string, string>();
    let next = address;
    for (let steps = 0; steps < 12; steps++) {
      const isHere = next.startsWith(this.url);
      const cookie = { cookie: [...jar].map((pair) => pair.join('=')).join('; ') };
      const isForm = isHere && new URL(next).pathname.startsWith('/interaction/');
      // The page says whether it is about signing in, or about consent.
      const page = isForm ? await (await fetch(next, { headers: cookie })).text() : '';
      const prompt = page.includes('value="consent"') ? 'consent' : 'login';
      const response = await fetch(next, {
        redirect: 'manual',
        headers: isHere ? cookie : {},
        ...(isForm ? { method: 'POST', body: new URLSearchParams({ prompt, login: name, password: 'any' }) } : {}),
      });
      if (!isHere) return response;
      for (const cookie of response.headers.getSetCookie()) {
        const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        jar.set(key, value);
      }
      const target = response.headers.get('location');
      if (target === null) throw new Error(`the server answered ${response.status}: ${await response.text()}`);
      next = new URL(target, next).href;
    }
    throw new Error('the server leads in a circle');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

let made = 0;

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: `key-${++made}`, alg: 'RS256', use: 'sig' };
}

function configuration(
  { lifeSecs = 3600, machines = [], shapeOf }: AuthorizationServerOptions,
  landing: string,
  keys: readonly JWK[],
): object {
  const app = {
    ...{ client_id: 'app', token_endpoint_auth_method: 'none', application_type: 'native' },
    grant_types: ['authorization_code', 'refresh_token'],
  };
  return {
    jwks: { keys },
    clients: [
      // Of an address on loopback, any port is right.
      { ...app, redirect_uris: [landing, 'http://127.0.0.1/callback'] },
      ...machines.map((name) => ({
        ...{ client_id: name, client_secret: machineSecret, grant_types: ['client_credentials'] },
        ...{ redirect_uris: [], response_types: [] },
      })),
    ],
    scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
    cookies: { keys: ['a key for tests'] },
    pkce: { required: () => true },
    ttl: {
      AccessToken: lifeSecs,
      ClientCredentials: lifeSecs,
      Grant: 3600,
      RefreshToken: 3600,
      Session: 3600,
      Interaction: 600,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    formats: {
      customizers: {
        jwt: (_context: unknown, _token: unknown, parts: { header?: object; payload: Record<string, unknown> }) => {
          const { header = {}, payload } = shapeOf?.(String(parts.payload['sub'])) ?? { payload: {} };
          parts.header = header;
          Object.assign(parts.payload, payload);
        },
      },
    },
    features: {
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_context: unknown, resource: string) => ({
          scope: 'mcp:read mcp:write',
          audience: resource.startsWith(audiencePrefix) ? resource.slice(audiencePrefix.length) : resource,
          accessTokenTTL: lifeSecs,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid offline_access mcp:read mcp:write');
      if (oidc.params.resource !== undefined) grant.addResourceScope(oidc.params.resource, 'mcp:read mcp:write');
      await grant.save();
      return grant;
    },
  };
}
