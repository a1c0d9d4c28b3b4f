import { boundedFetch } from './bounded-fetch.ts';

/** The document of an authorization server (RFC 8414), or of an OpenID provider. */
export type ServerDocument = Readonly<Record<string, unknown>> & { readonly issuer: string };

/** Nobody describes the issuer, or somebody else does. */
export class NoSuchIssuer extends Error {}

/** Where an issuer may keep its document: by RFC 8414, and as OpenID providers do. */
export function documentUrls(issuer: URL): readonly URL[] {
  const path = issuer.pathname.replace(/\/$/, '');
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${path}/.well-known/openid-configuration`]),
  ];
  return places.map((place) => new URL(`${issuer.origin}${place}`));
}

/**
 * The document of an issuer, from the first place that has one. It must name the same issuer: otherwise its endpoints
 * could be those of another, who would then get the codes and tokens of this one (mix-up).
 */
export async function discoverIssuer(issuer: URL): Promise<ServerDocument> {
  for (const url of documentUrls(issuer)) {
    const answer = await boundedFetch(url, { headers: { accept: 'application/json' } });
    if (answer.status !== 200) continue;
    const document: unknown = await answer.json().catch(() => undefined);
    if (!isDocument(document)) throw new NoSuchIssuer(`${url.href} is no document of an authorization server`);
    if (URL.parse(document.issuer)?.href !== issuer.href) {
      throw new NoSuchIssuer(`${url.href} names another issuer than ${issuer.href}`);
    }
    return document;
  }
  throw new NoSuchIssuer(`${issuer.href} has no document at /.well-known/oauth-authorization-server`);
}

function isDocument(value: unknown): value is ServerDocument {
  return typeof value === 'object' && value !== null && 'issuer' in value && typeof value.issuer === 'string';
}
