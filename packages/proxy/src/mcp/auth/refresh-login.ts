import type { AuthorizationServer, ClientAuth } from 'oauth4webapi';
import { ClientSecretPost, None, processRefreshTokenResponse, refreshTokenGrantRequest } from 'oauth4webapi';
import { EndpointAway } from '../../oauth/bounded-fetch.ts';
import { clientSecretBasic } from '../../oauth/client-secret-basic.ts';
import { secureUrlIn } from '../../oauth/secure-url.ts';
import type { KeptLogin } from './person-store.ts';
import { checkedToken, codeOf, lifeOf, requestOptions } from './request-token.ts';
import { TokenFailure } from './token-failure.ts';

/** Below the time for which other processes wait for the lock of the login. */
const timeoutMs = 5000;

export function clientAuthOf({ authMethod, clientSecret }: Pick<KeptLogin, 'authMethod' | 'clientSecret'>): ClientAuth {
  if (clientSecret === undefined || authMethod === 'none') return None();
  return authMethod === 'client_secret_post' ? ClientSecretPost(clientSecret) : clientSecretBasic(clientSecret);
}

/** Renews a login. A refresh token that comes with the answer replaces the former (rotation). */
export async function refreshLogin(kept: KeptLogin, refreshToken: string, advice: string): Promise<KeptLogin> {
  const url = secureUrlIn(kept.tokenUrl);
  if (url === undefined) throw new TokenFailure(`the login cannot be renewed: ${advice}`);
  const server: AuthorizationServer = { issuer: kept.issuer, token_endpoint: url.href };
  const client = { client_id: kept.clientId };
  const resource = kept.resource === undefined ? {} : { resource: kept.resource };
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const options = { ...requestOptions(url), signal, additionalParameters: resource };
    const response = await refreshTokenGrantRequest(server, client, clientAuthOf(kept), refreshToken, options);
    const granted = await processRefreshTokenResponse(server, client, response);
    const { lastsMs } = lifeOf(granted);
    return {
      ...kept,
      accessToken: checkedToken(granted, url),
      refreshToken: granted.refresh_token ?? refreshToken,
      expiresAt: lastsMs === undefined ? undefined : Date.now() + lastsMs,
    };
  } catch (error) {
    if (error instanceof TokenFailure) throw error;
    if (error instanceof EndpointAway) throw new TokenFailure(`the login cannot be renewed: ${error.message}`);
    const code = codeOf(error);
    throw new TokenFailure(
      `the login has ended (${url.origin} answers ${code ?? 'nothing that can be read'}): ${advice}`,
      code,
    );
  }
}
