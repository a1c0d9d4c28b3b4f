import type * as OpenidClient from 'openid-client';
import type { ClientAuth, Configuration } from 'openid-client';
import { boundedFetch } from './bounded-fetch.ts';

export interface OidcClient {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret: string | undefined;
}

type Library = typeof OpenidClient;

/** How long the provider's document is good for, and how long a failure to get it. */
const goodForMs = 3_600_000;
const awayForMs = 5000;
const timeoutSecs = 10;
/** How far the clocks may differ. */
const toleranceSecs = 30;

/** Loaded when somebody signs in: most gateways have no single sign-on. */
export function openidClient(): Promise<Library> {
  return import('openid-client');
}

/**
 * Finds the provider by its discovery document and keeps that. However many people sign in, there is one request at a
 * time, and after a failure none for a while. A document that cannot be renewed is used on.
 */
export class Discovery {
  readonly #client: OidcClient;
  readonly #elapsed: () => number;
  #found: Configuration | undefined;
  #finding: Promise<Configuration> | undefined;
  #failure: unknown;
  /** Until when nobody asks again, whether that brought a document or a failure. */
  #restUntil = Number.NEGATIVE_INFINITY;
  #sendsSecretInBody = false;

  constructor(client: OidcClient, elapsed: () => number) {
    this.#client = client;
    this.#elapsed = elapsed;
  }

  async find(): Promise<Configuration> {
    if (this.#elapsed() < this.#restUntil) {
      if (this.#found !== undefined) return this.#found;
      throw this.#failure;
    }
    this.#finding ??= this.#ask().finally(() => (this.#finding = undefined));
    return this.#finding;
  }

  /** Sends the client's secret in the other way from now on. Returns whether there is one that was not tried. */
  changeWay(found: Configuration): boolean {
    const ways = found.serverMetadata().token_endpoint_auth_methods_supported ?? [];
    const { clientSecret } = this.#client;
    if (this.#sendsSecretInBody || clientSecret === undefined || !ways.includes('client_secret_post')) return false;
    this.#sendsSecretInBody = true;
    return true;
  }

  async #ask(): Promise<Configuration> {
    try {
      this.#found = await this.#discover();
      this.#restUntil = this.#elapsed() + goodForMs;
      return this.#found;
    } catch (error) {
      this.#failure = error;
      this.#restUntil = this.#elapsed() + awayForMs;
      if (this.#found === undefined) throw error;
      return this.#found;
    }
  }

  async #discover(): Promise<Configuration> {
    const library = await openidClient();
    const { issuer, clientId } = this.#client;
    const isPlain = issuer.startsWith('http:');
    const execute = [library.enableNonRepudiationChecks, ...(isPlain ? [library.allowInsecureRequests] : [])];
    const metadata = { [library.clockTolerance]: toleranceSecs };
    const options = { execute, timeout: timeoutSecs, [library.customFetch]: boundedFetch };
    const found = await library.discovery(new URL(issuer), clientId, metadata, this.#auth(library), options);
    const named = found.serverMetadata();
    // A document for the tenants of all names no issuer of its own: people of any tenant could come in.
    if (new URL(named.issuer).href !== new URL(issuer).href) throw new Error('the provider names another issuer');
    const ways = named.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    this.#sendsSecretInBody ||= !ways.includes('client_secret_basic');
    return found;
  }

  #auth({ None, ClientSecretBasic, ClientSecretPost }: Library): ClientAuth {
    const { clientSecret } = this.#client;
    if (clientSecret === undefined) return None();
    const [inBody, inHeader] = [ClientSecretPost(clientSecret), ClientSecretBasic(clientSecret)];
    return (...about) => (this.#sendsSecretInBody ? inBody : inHeader)(...about);
  }
}
