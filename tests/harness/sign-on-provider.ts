import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error the package has no types
import Untyped from 'oidc-provider';

/** What the provider says of a person, besides the subject. */
export interface PersonClaims {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: { readonly Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): unknown } };
  };
}

const Provider = Untyped as new (
  issuer: string,
  configuration: object,
) => { callback(): (request: IncomingMessage, response: ServerResponse) => void };

export interface ProviderOptions {
  /** Puts the claims into the ID token, too. Otherwise userinfo alone has them. */
  readonly claimsInToken?: boolean;
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post';
}

export const clientSecret = 'a secret of the client, with & and +';

/** A real provider of OpenID Connect on loopback, with the people that a test names. */
export class SignOnProvider {
  readonly url: string;
  /** By subject, which is also the name to sign in with at the provider. */
  readonly people = new Map<string, PersonClaims>();
  /** The paths that were asked for. */
  readonly seen: string[] = [];
  readonly #server: Server;
  #answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;

  private constructor(server: Server, host: string) {
    this.#server = server;
    this.url = `http://${host}:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.seen.push(request.url?.split('?')[0] ?? '');
      if (this.#answer === undefined) response.writeHead(503).end();
      else this.#answer(request, response);
    });
  }

  /** Under the name `localhost`, it is another site than a gateway at 127.0.0.1, as providers are. */
  static async start(host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<SignOnProvider> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SignOnProvider(server, host);
  }

  /** The settings of a gateway that signs people on here. */
  get env(): Record<string, string> {
    return { SVC_OIDC_ISSUER: this.url, SVC_OIDC_CLIENT_ID: 'reeve', SVC_OIDC_CLIENT_SECRET: clientSecret };
  }

  /** Knows these gateways from now on. Until then it answers 503. */
  serve(gateways: readonly { readonly http: string }[], options: ProviderOptions = {}): void {
    const { claimsInToken = false, clientAuth = 'client_secret_basic' } = options;
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: 'reeve',
          client_secret: clientSecret,
          token_endpoint_auth_method: clientAuth,
          redirect_uris: gateways.map(({ http }) => `${http}/api/v1/auth/oidc/callback`),
          post_logout_redirect_uris: gateways.map(({ http }) => `${http}/sign-in`),
        },
      ],
      conformIdTokenClaims: !claimsInToken,
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      cookies: { keys: ['a key for tests'] },
      findAccount: (_context: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, ...this.people.get(sub) }),
      }),
      loadExistingGrant: async ({ oidc }: Context) => {
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    this.#answer = provider.callback();
  }

  /** Answers nothing but 503, as a provider that is away. */
  leave(): void {
    this.#answer = undefined;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
