import type { AuthorizationServer, Client } from 'oauth4webapi';
import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  dynamicClientRegistrationRequest,
  generateRandomCodeVerifier,
  generateRandomState,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import type { ServerDocument } from '../../oauth/authorization-server.ts';
import { NoSuchIssuer } from '../../oauth/authorization-server.ts';
import { EndpointAway } from '../../oauth/bounded-fetch.ts';
import { namedUrl } from '../../oauth/secure-url.ts';
import { isObject } from '../protocol/written-json.ts';
import { discoverServer } from './discover-server.ts';
import type { KeptLogin } from './person-store.ts';
import { clientAuthOf } from './refresh-login.ts';
import { checkedToken, codeOf, lifeOf, requestOptions } from './request-token.ts';
import type { PersonAuth } from './server-auth.ts';
import { TokenFailure } from './token-failure.ts';

/** The browser of the person: it is shown an address, and comes back to `redirectUri`. */
export interface Redirect {
  readonly redirectUri: string;
  /** The parameters that the browser came back with. `state` is what they must hold. */
  ask(url: URL, state: string): Promise<URLSearchParams>;
}

type KnownClient = Pick<KeptLogin, 'clientId' | 'clientSecret' | 'authMethod'>;

/**
 * Logs a person in to a server, by authorization code with PKCE. Everything is discovered anew each time, so that no
 * client of one authorization server is used at another. Throws `TokenFailure`.
 */
export async function logIn(
  server: URL,
  auth: PersonAuth,
  former: KeptLogin | undefined,
  redirect: Redirect,
): Promise<KeptLogin> {
  try {
    return await loggedIn(server, auth, former, redirect);
  } catch (error) {
    if (error instanceof TokenFailure) throw error;
    if (error instanceof EndpointAway || error instanceof NoSuchIssuer) throw new TokenFailure(error.message);
    if (error instanceof AuthorizationResponseError) {
      const code = /^[a-z_]{1,64}$/.test(error.error) ? error.error : 'an error';
      throw new TokenFailure(`the authorization server answers ${code}`, code);
    }
    // Its messages name the check that failed, and nothing of what was checked.
    if (error instanceof OperationProcessingError) throw new TokenFailure(`the login failed: ${error.message}`);
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new TokenFailure(`the authorization server answers ${code}`, code);
  }
}

async function loggedIn(
  server: URL,
  auth: PersonAuth,
  former: KeptLogin | undefined,
  redirect: Redirect,
): Promise<KeptLogin> {
  const { issuer: document, resource, scope: wanted } = await discoverServer(server, auth.issuer);
  const at = endpointsOf(document);
  const issuer = document as unknown as AuthorizationServer;
  const client = await clientFor(document, issuer, auth, redirect.redirectUri);
  const scope = auth.scope ?? scopeToAsk(document, wanted, former?.issuer === document.issuer ? former : undefined);
  const [verifier, state] = [generateRandomCodeVerifier(), generateRandomState()];
  const url = new URL(at.authorize);
  const parameters = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirect.redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(resource === undefined ? {} : { resource }),
    ...(scope === undefined ? {} : { scope }),
    // OpenID Connect gives no refresh token without asking the person.
    ...(scope?.split(' ').includes('offline_access') === true ? { prompt: 'consent' } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const us: Client = { client_id: client.clientId };
  // Compares state, and the issuer where the answer names one (RFC 9207).
  const answer = validateAuthResponse(issuer, us, await redirect.ask(url, state), state);
  const options = {
    ...requestOptions(at.token),
    ...(resource === undefined ? {} : { additionalParameters: { resource } }),
  };
  const proof = clientAuthOf(client);
  const response = await authorizationCodeGrantRequest(
    issuer,
    us,
    proof,
    answer,
    redirect.redirectUri,
    verifier,
    options,
  );
  const granted = await processAuthorizationCodeResponse(issuer, us, response);
  const { lastsMs } = lifeOf(granted);
  return {
    ...client,
    issuer: document.issuer,
    tokenUrl: at.token.href,
    resource,
    accessToken: checkedToken(granted, at.token),
    refreshToken: granted.refresh_token,
    expiresAt: lastsMs === undefined ? undefined : Date.now() + lastsMs,
    scope,
  };
}

function endpointsOf(document: ServerDocument): { readonly authorize: URL; readonly token: URL } {
  const issuer = new URL(document.issuer);
  const [authorize, token] = [document['authorization_endpoint'], document['token_endpoint']].map((each) =>
    namedUrl(each, issuer),
  );
  if (authorize === undefined || token === undefined) {
    throw new TokenFailure(`${issuer.href} names no authorization and token endpoint with https, or on loopback`);
  }
  if (!textsIn(document['code_challenge_methods_supported']).includes('S256')) {
    throw new TokenFailure(`${issuer.href} does not say that it knows PKCE with S256, so a code could be stolen`);
  }
  return { authorize, token };
}

/** The client of the file, one that describes itself by its address, or one that is registered now. */
async function clientFor(
  document: ServerDocument,
  issuer: AuthorizationServer,
  { clientId, clientSecret }: PersonAuth,
  redirectUri: string,
): Promise<KnownClient> {
  const isAddress = clientId?.startsWith('https://') === true;
  const takesAddresses = document['client_id_metadata_document_supported'] === true;
  if (clientId !== undefined && (!isAddress || takesAddresses)) {
    const authMethod =
      clientSecret === undefined ? 'none' : methodOf(document, ['client_secret_basic', 'client_secret_post']);
    return { clientId, clientSecret, authMethod };
  }
  const endpoint = namedUrl(document['registration_endpoint'], new URL(document.issuer));
  if (endpoint === undefined) {
    throw new TokenFailure(`${document.issuer} registers no clients: register one there, and set auth.client_id`);
  }
  const authMethod = methodOf(document, ['none', 'client_secret_basic', 'client_secret_post']);
  const response = await dynamicClientRegistrationRequest(
    issuer,
    {
      client_name: 'Reeve',
      application_type: 'native',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: authMethod,
    },
    requestOptions(endpoint),
  );
  return registeredClient(await response.json().catch(() => undefined), response.status, document, authMethod);
}

/** Many servers leave out members that RFC 7591 wants, as when a secret ends. Without an id there is no client. */
function registeredClient(
  answer: unknown,
  status: number,
  { issuer }: ServerDocument,
  asked: KeptLogin['authMethod'],
): KnownClient {
  const {
    client_id: clientId,
    client_secret: secret,
    token_endpoint_auth_method: method,
  } = isObject(answer) ? answer : {};
  if ((status !== 201 && status !== 200) || typeof clientId !== 'string' || clientId === '') {
    throw new TokenFailure(`${issuer} does not register this client: register one there, and set auth.client_id`);
  }
  const authMethod = methods.find((each) => each === method) ?? asked;
  return { clientId, clientSecret: typeof secret === 'string' ? secret : undefined, authMethod };
}

const methods = ['none', 'client_secret_basic', 'client_secret_post'] as const;

/** The first way that the server takes. Without a word of it, RFC 8414 says that it is `client_secret_basic`. */
function methodOf(document: ServerDocument, wanted: readonly KeptLogin['authMethod'][]): KeptLogin['authMethod'] {
  const stated = document['token_endpoint_auth_methods_supported'];
  const taken = stated === undefined ? ['client_secret_basic'] : textsIn(stated);
  return wanted.find((method) => taken.includes(method)) ?? 'client_secret_basic';
}

/** What the server wants now and has wanted before, and a refresh token where the issuer gives it by a scope. */
function scopeToAsk(
  document: ServerDocument,
  wanted: string | undefined,
  former: KeptLogin | undefined,
): string | undefined {
  const before = former?.wantedScope === undefined ? [] : [former.scope, former.wantedScope];
  const scopes = [wanted, ...before].flatMap((text) => text?.split(' ') ?? []);
  if (textsIn(document['scopes_supported']).includes('offline_access')) scopes.push('offline_access');
  return scopes.length === 0 ? undefined : [...new Set(scopes)].join(' ');
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
