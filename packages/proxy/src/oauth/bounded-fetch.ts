import { isSecureUrl } from '@reeve/contract/host-name';

/** No document, token or set of keys is larger. */
const mostBytes = 1024 * 1024;
const timeoutMs = 10_000;

/** Nothing usable came from an endpoint of OAuth. The message names the endpoint, and holds nothing of what was sent. */
export class EndpointAway extends Error {}

export interface BoundedRequest {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | Uint8Array<ArrayBuffer> | ArrayBuffer | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches from an endpoint of OAuth: https or loopback, no redirection, at most 1 MiB, within 10 s for all of it. A
 * redirection would have the secret of the client sent to whoever the answer names.
 */
export async function boundedFetch(url: string | URL, request: BoundedRequest = {}): Promise<Response> {
  const target = new URL(url);
  if (!isSecureUrl(target)) throw new EndpointAway(`${target.origin} is neither https nor on loopback`);
  const { method = 'GET', headers = {}, body, signal } = request;
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(target, {
      method,
      headers,
      redirect: 'manual',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      ...(body == null ? {} : { body }),
    });
    if (answer.status >= 300 && answer.status <= 399) {
      await answer.body?.cancel();
      throw new EndpointAway(`${target.origin} redirects, which is not followed`);
    }
    const content = await contentOf(answer, target);
    const { status, statusText } = answer;
    return new Response(content.length === 0 ? null : content, { status, statusText, headers: plain(answer.headers) });
  } catch (error) {
    if (error instanceof EndpointAway) throw error;
    const isLate = limit.aborted || signal?.aborted === true;
    const why = isLate ? 'does not answer in time' : `cannot be reached (${codeOf(error)})`;
    throw new EndpointAway(`${target.origin} ${why}`, { cause: error });
  }
}

async function contentOf({ body }: Response, { origin }: URL): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw new EndpointAway(`${origin} sends more than 1 MiB`);
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

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'the connection broke';
}
