import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/**
 * A real authorization server on loopback, for people of MCP servers: it registers clients, demands PKCE, issues tokens
 * for a resource, and rotates refresh tokens. A refresh token that comes twice ends the login.
 */
export class AuthorizationServer implements AsyncDisposable {
  readonly url: string;
  /** The paths that were asked for. */
  readonly seen: string[] = [];
  readonly #server: Server;

  private constructor(server: Server, lifeSecs: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = new Provider(this.url, configuration(lifeSecs)).callback();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.seen.push(`${request.method} ${request.url?.split('?')[0]}`);
      answer(request, response);
    });
  }

  static async start(lifeSecs: number): Promise<AuthorizationServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new AuthorizationServer(server, lifeSecs);
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

function configuration(lifeSecs: number): object {
  return {
    scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
    cookies: { keys: ['a key for tests'] },
    pkce: { required: () => true },
    ttl: { AccessToken: lifeSecs, Grant: 3600, RefreshToken: 3600, Session: 3600, Interaction: 600 },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_context: unknown, audience: string) => ({
          scope: 'mcp:read mcp:write',
          audience,
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
