import { boundedFetch } from '../../oauth/bounded-fetch.ts';
import type { ServerDocument } from '../../oauth/authorization-server.ts';
import { discoverIssuer, NoSuchIssuer } from '../../oauth/authorization-server.ts';
import { namedUrl } from '../../oauth/secure-url.ts';
import { isObject } from '../protocol/written-json.ts';
import { readBody, sendHttp } from '../transport/http-request.ts';
import type { Challenge } from './challenge.ts';
import { challengeOf } from './challenge.ts';
import { TokenFailure } from './token-failure.ts';

/** What a server says of how to log in to it. */
export interface LoginPlace {
  /** What tokens are to be for (RFC 8707). Undefined where the server has no document of its own. */
  readonly resource: string | undefined;
  readonly issuer: ServerDocument;
  /** The scopes to ask for, as the server wants them. */
  readonly scope: string | undefined;
}

interface ResourceDocument {
  readonly resource: string;
  readonly issuers: readonly [URL, ...URL[]];
  readonly scopes: readonly string[];
}

const probeMs = 10_000;
const longestDiscarded = 64 * 1024;

/**
 * Finds out who issues the tokens for a server: RFC 9728, then RFC 8414. `pinned` is the only issuer that is trusted; where
 * the server names another, nothing is sent there. Throws `TokenFailure`.
 */
export async function discoverServer(url: URL, pinned: URL | undefined): Promise<LoginPlace> {
  const challenge = await challengeFrom(url);
  const described = await describedBy(url, challenge);
  // Revision 2025-03-26 knew no document of the resource. The server's own origin was the issuer.
  const [first, ...others] = described?.issuers ?? [new URL(url.origin)];
  const issuerUrl = pinned === undefined ? first : [first, ...others].find(({ href }) => href === pinned.href);
  if (issuerUrl === undefined) {
    throw new TokenFailure(`the MCP server names the issuer ${first.href}, and auth.issuer says ${pinned?.href ?? ''}`);
  }
  try {
    const issuer = await discoverIssuer(issuerUrl);
    const scopes = described === undefined || described.scopes.length === 0 ? undefined : described.scopes.join(' ');
    return { resource: described?.resource, issuer, scope: challenge?.scope ?? scopes };
  } catch (error) {
    if (!(error instanceof NoSuchIssuer) || described !== undefined || challenge !== undefined) throw error;
    throw new TokenFailure('the MCP server asks for no token, and says nothing of where to log in');
  }
}

/** What the server answers to somebody without a token. Some let the first messages pass, so a list is asked for. */
async function challengeFrom(url: URL): Promise<Challenge | undefined> {
  for (const method of ['tools/list', 'initialize']) {
    const clientInfo = { name: 'reeve', version: '1' };
    const params = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } : {};
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const signal = AbortSignal.timeout(probeMs);
    const response = await sendHttp(url, { method: 'POST', headers, body, signal }).catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'the connection broke';
      throw new TokenFailure(`the MCP server cannot be reached: ${code}`);
    });
    void readBody(response, longestDiscarded).catch(() => {});
    if (response.statusCode === 401) return challengeOf(401, response.headers);
  }
  return undefined;
}

async function describedBy(url: URL, challenge: Challenge | undefined): Promise<ResourceDocument | undefined> {
  const named = challenge?.resourceMetadata;
  if (named !== undefined) {
    const at = namedUrl(named, url);
    if (at === undefined)
      throw new TokenFailure('the MCP server names a document that is neither https nor on loopback');
    return (await resourceDocument(at, url)) ?? fail(`there is no document at ${at.href}`);
  }
  const path = url.pathname.replace(/\/$/, '');
  for (const place of new Set([path, ''])) {
    const found = await resourceDocument(new URL(`${url.origin}/.well-known/oauth-protected-resource${place}`), url);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function resourceDocument(at: URL, server: URL): Promise<ResourceDocument | undefined> {
  const answer = await boundedFetch(at, { headers: { accept: 'application/json' } });
  if (answer.status !== 200) return undefined;
  const document: unknown = await answer.json().catch(() => undefined);
  if (!isObject(document)) return fail(`${at.href} is no document of a protected resource`);
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = document;
  if (typeof resource !== 'string' || !covers(resource, server)) {
    return fail(`${at.href} describes another resource than ${server.href}`);
  }
  const [issuer, ...others] = (Array.isArray(issuers) ? issuers : []).flatMap((each) => namedUrl(each, server) ?? []);
  if (issuer === undefined) return fail(`${at.href} names no authorization server with https, or on loopback`);
  const listed = Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [];
  return { resource, issuers: [issuer, ...others], scopes: listed };
}

/** Whether tokens for the resource are meant for the server: the same origin, and the same path or one above it. */
function covers(resource: string, server: URL): boolean {
  const url = URL.parse(resource);
  if (url === null || url.origin !== server.origin) return false;
  const [above, path] = [url.pathname.replace(/\/$/, ''), server.pathname.replace(/\/$/, '')];
  return path === above || path.startsWith(`${above}/`);
}

function fail(message: string): never {
  throw new TokenFailure(message);
}
