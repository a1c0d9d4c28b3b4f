import type { IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

export interface HttpCall {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

// A connection that is used again may be closed just then, and nobody knows whether the server has acted already.
const agents = { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };

/** Sends a request that may take as long as it likes. Follows no redirect: headers may hold credentials. */
export function sendHttp(url: URL, { method, headers, body, signal }: HttpCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const all = body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const options = { method, headers: all, signal };
    const request =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, agent: agents.https })
        : requestHttp(url, { ...options, agent: agents.http });
    request.once('response', resolve);
    request.once('error', reject);
    // An answer that wants to change the protocol ends without an error and without a response.
    request.once('close', () => reject(new Error('the connection broke')));
    request.end(body);
  });
}

/** Reads a whole body. Undefined if it is longer than permitted. */
export async function readBody(stream: AsyncIterable<unknown>, longest: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += (chunk as Buffer).length;
    if (size > longest) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
