export { subscriptionKey } from '@reeve/sdk/mcp';
import type { JsonObject } from './written-json.ts';
import { isObject } from './written-json.ts';

/**
 * The envelope of revision 2026-07-28. That revision has no `initialize`: each request says in its `_meta` which version
 * it speaks, and who asks.
 */

const prefix = 'io.modelcontextprotocol/';
const versionKey = `${prefix}protocolVersion`;
/** Says how much the server logs for one request. It is not about the client. */
const logLevelKey = `${prefix}logLevel`;

export function metaOf(params: unknown): JsonObject {
  return isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
}

/** The version that a request of the stateless revision names. Undefined for requests of the other family. */
export function statedVersion(params: unknown): string | undefined {
  const version = metaOf(params)[versionKey];
  return typeof version === 'string' ? version : undefined;
}

/** The revision without sessions. A later one may mean something else, so nobody here can govern it. */
const statelessRevision = '2026-07-28';

interface EnvelopeFault {
  readonly code: number;
  readonly text: string;
  readonly data?: JsonObject;
}

/**
 * What is wrong with the envelope of a request outside of any session. A server on stdio knows neither headers nor statuses, so
 * that the proxy says it in its place.
 */
export function envelopeFault(
  headers: Readonly<Record<string, string>>,
  { params }: { readonly params: unknown },
): EnvelopeFault | undefined {
  const [version, said] = [statedVersion(params), headers['mcp-protocol-version']];
  if (version === undefined) {
    if (said === undefined || said < statelessRevision) return undefined;
    return { code: -32_602, text: `params._meta must name ${versionKey}` };
  }
  if (version !== statelessRevision) {
    const data = { supported: [statelessRevision], requested: version };
    return { code: -32_022, text: 'this version of the protocol is not supported outside of sessions', data };
  }
  const key = `${prefix}clientCapabilities`;
  return isObject(metaOf(params)[key]) ? undefined : { code: -32_602, text: `params._meta must have ${key}` };
}

/** The members of the envelope, to ask something else in the name of the same client. */
export function envelopeOf(params: unknown): JsonObject | undefined {
  if (statedVersion(params) === undefined) return undefined;
  const members = Object.entries(metaOf(params)).filter(([key]) => key.startsWith(prefix) && key !== logLevelKey);
  return Object.fromEntries(members);
}

/** The envelope of a client that is this proxy itself. */
export function ownEnvelope(name: string, version: string): JsonObject {
  return {
    [versionKey]: '2026-07-28',
    [`${prefix}clientInfo`]: { name, version },
    [`${prefix}clientCapabilities`]: {},
  };
}
