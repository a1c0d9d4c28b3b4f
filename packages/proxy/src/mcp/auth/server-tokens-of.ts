import { createHash } from 'node:crypto';
import type { Person } from '../person.ts';
import type { PersonStore } from './person-store.ts';
import { PersonTokens } from './person-tokens.ts';
import type { Granted } from './request-token.ts';
import { requestToken } from './request-token.ts';
import type { ServerAuth } from './server-auth.ts';
import type { ServerTokens } from './server-tokens.ts';
import { TokenCache } from './token-cache.ts';
import { TokenFailure } from './token-failure.ts';

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const tokenType = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;

/** `store` keeps the tokens of the person of this machine. */
export function serverTokensOf(server: string, auth: ServerAuth, store: () => PersonStore): ServerTokens {
  switch (auth.type) {
    case 'person':
      return new PersonTokens(server, store(), auth.issuer);
    case 'client_credentials': {
      const { tokenUrl, client, scope, resource } = auth;
      const request = () => requestToken(tokenUrl, client, 'client_credentials', { scope, resource });
      return cached({ key: () => ({ key: JSON.stringify([server, scope]) }), request });
    }
    case 'token_exchange': {
      const { tokenUrl, client, audience, resource, scope } = auth;
      const request = (subjectToken: string) =>
        requestToken(tokenUrl, client, exchange, {
          subject_token: subjectToken,
          subject_token_type: tokenType('access_token'),
          requested_token_type: tokenType('access_token'),
          ...{ audience, resource, scope },
        });
      const key = keyBy(server, scope, ({ token }) => token, 'the caller must come with an access token of their own');
      return cached({ key, request });
    }
    case 'enterprise': {
      const key = keyBy(server, '', ({ idToken }) => idToken, 'the ID token of the caller is missing');
      return cached({ key, request: (idToken) => byAssertion(auth, idToken) });
    }
  }
}

/** The identity provider vouches for the person (ID-JAG), and the server's own authorization server takes its word. */
async function byAssertion(
  { idpTokenUrl, tokenUrl, client, audience, resource }: Extract<ServerAuth, { type: 'enterprise' }>,
  idToken: string,
): Promise<Granted> {
  const assertion = await requestToken(idpTokenUrl, client, exchange, {
    requested_token_type: tokenType('id-jag'),
    subject_token: idToken,
    subject_token_type: tokenType('id_token'),
    ...{ audience, resource },
  });
  if (assertion.issuedType !== tokenType('id-jag')) {
    throw new TokenFailure(`no token for the MCP server: ${idpTokenUrl.origin} gave something else than an ID-JAG`);
  }
  return requestToken(tokenUrl, client, jwtBearer, { assertion: assertion.token });
}

/** Under which key a token is kept, and what it is asked for with. Or why it cannot be. */
type KeyOf = (
  person: Person | undefined,
) => { readonly key: string; readonly proof?: string } | { readonly denial: string };

function keyBy(
  server: string,
  scope: string | undefined,
  proofOf: (person: Person) => string | undefined,
  denial: string,
): KeyOf {
  return (person) => {
    const proof = person === undefined ? undefined : proofOf(person);
    if (person === undefined || proof === undefined) return { denial };
    const digest = createHash('sha256').update(proof).digest('base64url');
    return { key: JSON.stringify([person.issuer, person.subject, server, scope, digest]), proof };
  };
}

function cached({ key, request }: { key: KeyOf; request: (proof: string) => Promise<Granted> }): ServerTokens {
  const cache = new TokenCache();
  return {
    denial: (person) => {
      const found = key(person);
      return 'denial' in found ? found.denial : undefined;
    },
    find: async (person) => {
      const found = key(person);
      if ('denial' in found) throw new TokenFailure(found.denial);
      return cache.find(found.key, () => request(found.proof ?? ''));
    },
    refused: async (person, token, { status }) => {
      const found = key(person);
      return status === 401 && !('denial' in found) && (await cache.drop(found.key, token));
    },
    advice: 'check auth of the server',
  };
}
