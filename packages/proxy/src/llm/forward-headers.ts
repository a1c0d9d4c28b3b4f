import type { IncomingMessage } from 'node:http';
import type { Upstream } from './model-config.ts';

/** Of one connection only (RFC 9110, section 7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Set anew for the upstream, or meant for the proxy alone. */
const ofTheProxy = [
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  'authorization',
  'x-api-key',
  'api-key',
  'cookie',
  'content-type',
  // Ask some servers for another method or path than the one that is judged.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
];

/** Of the upstream's own place. A client that went there would take its token along. */
const ofTheUpstream = ['location', 'alt-svc'];

const leftOfRequests = new Set([...hopByHop, ...ofTheProxy]);
const leftOfAnswers = new Set([...hopByHop, ...ofTheUpstream]);

type Headers = Record<string, string | string[]>;

/** The headers for the upstream: the client's, with the upstream's key in place of the agent's token. */
export function requestHeaders(request: IncomingMessage, token: string, upstream: Upstream, bytes: number): Headers {
  const named = namedBy(request);
  const headers: Headers = {};
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    if (leftOfRequests.has(name) || named.includes(name) || name.startsWith('x-reeve-')) continue;
    // The token is a secret of the agent and this proxy, wherever a client puts it.
    if (!values.some((value) => value.includes(token))) headers[name] = values;
  }
  // Compressed answers could not be read for their usage.
  headers['accept-encoding'] = 'identity';
  // The body was read as JSON in UTF-8. No upstream may read it as a form, or in another encoding.
  headers['content-type'] = 'application/json';
  headers['host'] = upstream.baseUrl.host;
  if (bytes > 0) headers['content-length'] = String(bytes);
  if (upstream.apiKey !== undefined) {
    if (upstream.kind === 'openai') headers['authorization'] = `Bearer ${upstream.apiKey}`;
    else headers['x-api-key'] = upstream.apiKey;
  }
  return headers;
}

/** The headers for the client, in the order and spelling of the upstream, as names and values in turn. */
export function answerHeaders(
  answer: IncomingMessage,
  secret: string | undefined,
  without: readonly string[],
): string[] {
  const named = new Set([...namedBy(answer), ...without]);
  const { rawHeaders } = answer;
  const headers: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    const plain = name.toLowerCase();
    if (leftOfAnswers.has(plain) || named.has(plain)) continue;
    if (secret === undefined || !value.includes(secret)) headers.push(name, value);
  }
  return headers;
}

/** The header `connection` names further headers of this connection only. */
function namedBy({ headers }: IncomingMessage): string[] {
  return (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
}
