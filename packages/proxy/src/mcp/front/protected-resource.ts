import { InvalidToken, TokenIssuer } from '../../oauth/token-issuer.ts';
import type { VerifiedToken } from '../../oauth/token-issuer.ts';
import type { Person } from '../person.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import { agentFor, lacksScopes } from './oauth-settings.ts';

/** The token is good, and does not reach as far. */
export class NotPermitted extends Error {
  /** Whether it would with all scopes. */
  readonly lacksScope: boolean;

  constructor(message: string, lacksScope: boolean) {
    super(message);
    this.lacksScope = lacksScope;
  }
}

/** Who calls, and the name of the agent that they act as. */
export interface Admission {
  readonly person: Omit<Person, 'subjectToken'> & { readonly token: string };
  readonly agent: string;
  readonly acceptedUntil: number;
}

const place = '/.well-known/oauth-protected-resource/mcp/';

/** The servers as resources of OAuth 2.1 (RFC 9728), and whom their tokens let in. */
export class ProtectedResource {
  readonly #settings: OAuthSettings;
  readonly #issuer: TokenIssuer;
  readonly #publicUrl: string;

  /** `publicUrl` is how clients reach the proxy. It comes from no request: whoever sends one could choose the audience. */
  constructor(settings: OAuthSettings, publicUrl: string) {
    this.#settings = settings;
    this.#issuer = new TokenIssuer(settings.issuer, settings.jwksUri);
    this.#publicUrl = publicUrl;
  }

  /** The name of the server whose document is asked for. */
  static nameIn(path: string): string | undefined {
    const [before = ''] = path.split('?');
    return before.startsWith(place) ? before.slice(place.length) : undefined;
  }

  document(server: string): Readonly<Record<string, unknown>> {
    const { issuer, scopes } = this.#settings;
    return {
      resource: this.#resource(server),
      authorization_servers: [issuer],
      // RFC 9728 leaves out lists without members.
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
    };
  }

  challenge(server: string, error?: 'invalid_token' | 'insufficient_scope'): string {
    const { scopes } = this.#settings;
    const parts = [
      `resource_metadata="${this.#publicUrl}${place}${encodeURIComponent(server)}"`,
      ...(error === undefined ? [] : [`error="${error}"`]),
      ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    ];
    return `Bearer ${parts.join(', ')}`;
  }

  /** Whether a token is one of the issuer. What is not may be the token of an agent. */
  takes(token: string): boolean {
    return this.#issuer.isNamedIn(token);
  }

  /** Throws `InvalidToken`, `NotPermitted` or `IssuerAway`. */
  async admit(server: string, token: string, idToken: string | undefined): Promise<Admission> {
    const audience = this.#settings.audience ?? this.#resource(server);
    const { subject, claims, acceptedUntil } = await this.#issuer.verifyAccess(token, audience);
    if (lacksScopes(this.#settings, claims)) {
      throw new NotPermitted(`the token lacks scopes; needed: ${this.#settings.scopes.join(' ')}`, true);
    }
    const agent = agentFor(this.#settings, claims);
    if (agent === undefined) throw new NotPermitted('no entry of oauth.agents is for this caller', false);
    if (idToken !== undefined) await this.#verifyId(idToken, subject);
    return { person: { issuer: this.#settings.issuer, subject, token, idToken }, agent, acceptedUntil };
  }

  async #verifyId(idToken: string, subject: string): Promise<void> {
    let verified: VerifiedToken;
    try {
      verified = await this.#issuer.verifyId(idToken);
    } catch (error) {
      if (error instanceof InvalidToken) throw new NotPermitted(`x-reeve-id-token: ${error.message}`, false);
      throw error;
    }
    if (verified.subject !== subject) throw new NotPermitted('x-reeve-id-token: it names another person', false);
  }

  #resource(server: string): string {
    return `${this.#publicUrl}/mcp/${encodeURIComponent(server)}`;
  }
}
