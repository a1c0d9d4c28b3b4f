import type { OidcPerson, SignOnAnswer, SignOnProvider, SignOnSecrets } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import type { Configuration } from 'openid-client';
import type { OidcClient } from './discovery.ts';
import { Discovery, openidClient } from './discovery.ts';
import type { Failure } from './explain-failure.ts';
import { explainFailure } from './explain-failure.ts';
import type { Claims } from './read-claims.ts';
import { isIncomplete, readClaims } from './read-claims.ts';

export interface OidcOptions extends OidcClient {
  readonly scopes: string;
  readonly roleClaim: string;
  readonly elapsed: () => number;
  /** Called with what went wrong at the provider, without anything secret. */
  readonly onFailure: (failure: Failure) => void;
}

/** How many people may be on their way back at once. Strangers must not make the gateway flood its provider. */
const mostAtOnce = 64;

/** No subject is longer (OpenID Connect Core, 2). */
const longestSubject = 255;

/** A provider of OpenID Connect: the authorization code flow with PKCE, state and nonce. */
export class OidcProvider implements SignOnProvider {
  readonly #options: OidcOptions;
  readonly #discovery: Discovery;
  #busy = 0;

  constructor(options: OidcOptions) {
    this.#options = options;
    this.#discovery = new Discovery(options, options.elapsed);
  }

  async startUrl({ state, nonce, verifier }: SignOnSecrets, redirectUri: string): Promise<string> {
    const provider = await this.#find();
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await openidClient();
    const url = buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri,
      scope: this.#options.scopes,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  async personBehind(answer: SignOnAnswer, secrets: SignOnSecrets, redirectUri: string): Promise<OidcPerson> {
    if (this.#busy >= mostAtOnce) throw new ReeveError('overloaded', 'many people sign in at once; try again');
    this.#busy += 1;
    try {
      return await this.#exchange(answer, secrets, redirectUri);
    } finally {
      this.#busy -= 1;
    }
  }

  async endUrl(returnTo: string): Promise<string | undefined> {
    const found = await this.#find().catch(() => undefined);
    if (found?.serverMetadata().end_session_endpoint === undefined) return undefined;
    const { buildEndSessionUrl } = await openidClient();
    return buildEndSessionUrl(found, { post_logout_redirect_uri: returnTo }).href;
  }

  async #find(): Promise<Configuration> {
    try {
      return await this.#discovery.find();
    } catch (error) {
      throw this.#explained(error, 'discovery');
    }
  }

  async #exchange(answer: SignOnAnswer, secrets: SignOnSecrets, redirectUri: string): Promise<OidcPerson> {
    const provider = await this.#find();
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries(answer)) if (value !== undefined) url.searchParams.set(name, value);
    try {
      const tokens = await this.#tokens(provider, url, secrets);
      const token: Claims = tokens.claims() ?? {};
      const subject = String(token['sub']);
      if (subject.length > longestSubject) throw new Error('the subject is too long');
      const userinfo = await this.#userinfo(provider, token, tokens.access_token);
      const { issuer } = provider.serverMetadata();
      return { issuer, subject, ...readClaims(token, userinfo, this.#options.roleClaim) };
    } catch (error) {
      throw this.#explained(error, 'exchange');
    }
  }

  async #tokens(provider: Configuration, url: URL, { state, nonce, verifier }: SignOnSecrets) {
    const { authorizationCodeGrant } = await openidClient();
    const grant = () =>
      authorizationCodeGrant(provider, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
    try {
      return await grant();
    } catch (error) {
      // The client may be registered with the other way to send its secret.
      if (!isAboutClient(error) || !this.#discovery.changeWay(provider)) throw error;
      return await grant();
    }
  }

  async #userinfo(provider: Configuration, token: Claims, accessToken: string): Promise<Claims> {
    const hasUserinfo = provider.serverMetadata().userinfo_endpoint !== undefined;
    if (!hasUserinfo || !isIncomplete(token, this.#options.roleClaim)) return {};
    const { fetchUserInfo } = await openidClient();
    return fetchUserInfo(provider, accessToken, String(token['sub']));
  }

  #explained(error: unknown, during: 'discovery' | 'exchange'): ReeveError {
    const { failure, refusal } = explainFailure(error, during);
    this.#options.onFailure(failure);
    return refusal;
  }
}

function isAboutClient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { error: code, status } = error as { readonly error?: unknown; readonly status?: unknown };
  return code === 'invalid_client' || status === 401;
}
