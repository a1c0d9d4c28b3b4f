import type { AuthorizationServer, ClientAuth, TokenEndpointResponse } from 'oauth4webapi';
import {
  allowInsecureRequests,
  ClientSecretPost,
  customFetch,
  genericTokenEndpointRequest,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { boundedFetch, EndpointAway } from '../../oauth/bounded-fetch.ts';
import { clientSecretBasic } from '../../oauth/client-secret-basic.ts';
import { isOwnMachine } from '@reeve/contract/host-name';
import type { OAuthClient } from './server-auth.ts';
import { TokenFailure } from './token-failure.ts';

export interface Granted {
  readonly token: string;
  /** How long it lasts, where the endpoint says so. */
  readonly lastsMs: number | undefined;
  readonly issuedType: unknown;
}

/** What the library is told with each request. */
export function requestOptions(url: URL) {
  return { [customFetch]: boundedFetch, [allowInsecureRequests]: url.protocol === 'http:' && isOwnMachine(url) };
}

/** Clients of endpoints that want the secret in the body, and not in a header. Learned once, kept with the process. */
const takesBody = new Set<string>();

/** Asks a token endpoint for a token. Throws `TokenFailure`. */
export async function requestToken(
  url: URL,
  client: OAuthClient,
  grantType: string,
  parameters: Readonly<Record<string, string | undefined>>,
): Promise<Granted> {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const ask = (auth: ClientAuth) => askOnce(url, client, auth, grantType, new URLSearchParams(given));
  const name = JSON.stringify([url.href, client.id]);
  const ways = [clientSecretBasic(client.secret), ClientSecretPost(client.secret)] as const;
  const [first, second] = takesBody.has(name) ? [ways[1], ways[0]] : ways;
  try {
    return await ask(first);
  } catch (error) {
    if (codeOf(error) !== 'invalid_client') throw failureOf(error, url, client);
  }
  try {
    const granted = await ask(second);
    if (second === ways[1]) takesBody.add(name);
    else takesBody.delete(name);
    return granted;
  } catch (error) {
    throw failureOf(error, url, client);
  }
}

async function askOnce(
  url: URL,
  client: OAuthClient,
  auth: ClientAuth,
  grantType: string,
  parameters: URLSearchParams,
): Promise<Granted> {
  const server: AuthorizationServer = { issuer: url.origin, token_endpoint: url.href };
  const us = { client_id: client.id };
  const response = await genericTokenEndpointRequest(server, us, auth, grantType, parameters, requestOptions(url));
  // An ID-JAG is no access token, and its type is N_A.
  const isAssertion = parameters.get('requested_token_type')?.endsWith(':id-jag') === true;
  const options = isAssertion ? { recognizedTokenTypes: { n_a: () => {} } } : {};
  const granted = await processGenericTokenEndpointResponse(server, us, response, options);
  return {
    token: checkedToken(granted, url),
    ...lifeOf(granted),
    issuedType: granted['issued_token_type'],
  };
}

/** A token that whoever bears it may use, and that can be sent in a header with nothing else. */
export function checkedToken(
  { access_token: token, token_type: type }: TokenEndpointResponse,
  { origin }: URL,
): string {
  if (type !== 'bearer' && type !== 'n_a') throw new TokenFailure(`${origin} gave a token that is bound to a key`);
  if (/^[\x21-\x7e]{1,65536}$/.test(token)) return token;
  throw new TokenFailure(`${origin} gave a token that no header can hold`);
}

export function lifeOf({ expires_in: secs }: TokenEndpointResponse): { readonly lastsMs: number | undefined } {
  return { lastsMs: secs === undefined ? undefined : Math.max(secs, 0) * 1000 };
}

/** The error code of the endpoint. What else it says may repeat what it was sent. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof WWWAuthenticateChallengeError) return error.status === 401 ? 'invalid_client' : undefined;
  const code = error instanceof ResponseBodyError ? error.error : undefined;
  return code !== undefined && /^[a-z_]{1,64}$/.test(code) ? code : undefined;
}

function failureOf(error: unknown, url: URL, { secretFrom }: OAuthClient): TokenFailure {
  if (error instanceof TokenFailure) return error;
  if (error instanceof EndpointAway) return new TokenFailure(`no token for the MCP server: ${error.message}`);
  const code = codeOf(error);
  const where = `no token for the MCP server: ${url.origin}`;
  if (code === 'invalid_client') {
    return new TokenFailure(
      `${where} does not accept the client; check client_id and the variable ${secretFrom}`,
      code,
    );
  }
  if (code !== undefined) return new TokenFailure(`${where} answers ${code}; check auth of the server`, code);
  return new TokenFailure(`${where} gave no token that can be read; is token_url right?`);
}
