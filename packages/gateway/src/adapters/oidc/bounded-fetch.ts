import type { CustomFetchOptions } from 'openid-client';
import { isSecureUrl } from '@reeve/contract/host-name';

/** No document, token or set of keys of a provider is larger. */
const mostBytes = 1024 * 1024;

/**
 * Fetches from the provider. Its documents name further URLs: those are https, too, or on loopback. An answer that is
 * too large is an error, and a redirection is not followed.
 */
export async function boundedFetch(url: string, options: CustomFetchOptions): Promise<Response> {
  const target = new URL(url);
  if (!isSecureUrl(target)) {
    throw new TypeError(`the provider names ${target.origin}, which is neither https nor on loopback`);
  }
  const { body: sent, method, headers: asked, signal } = options;
  const answer = await fetch(target, {
    method,
    headers: asked,
    redirect: 'manual',
    ...(sent == null ? {} : { body: sent }),
    ...(signal === undefined ? {} : { signal }),
  });
  const { status, statusText, headers } = answer;
  const body = await read(answer);
  return new Response(body.length === 0 ? null : body, { status, statusText, headers: plain(headers) });
}

async function read({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw new TypeError('the provider sends more than 1 MiB');
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The body is decoded by now. */
function plain(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name);
  return kept;
}
