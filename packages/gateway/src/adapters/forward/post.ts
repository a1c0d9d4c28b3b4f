import type { IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { SinkError } from '../../forwarding/sink.ts';

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** As much of the body as anybody needs. */
  readonly text: string;
}

const mostAnswerBytes = 64 * 1024;

/** Posts to one address, one request at a time, over a connection that is kept. It follows no redirect. */
export class Poster {
  readonly #url: URL;
  readonly #authorization: string | undefined;
  readonly #ca: readonly string[] | undefined;
  #agent: HttpAgent | undefined;

  constructor(url: URL, authorization: string | undefined, ca: readonly string[] | undefined) {
    this.#url = url;
    this.#authorization = authorization;
    this.#ca = ca;
  }

  /** Resolves if the receiver accepted the body, else rejects with a `SinkError`. */
  async post(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    const answer = await this.#exchange(Buffer.from(body), headers, signal);
    const { status, retryAfter } = answer;
    if (status >= 200 && status < 300) return answer;
    throw new SinkError(`status ${status}`, {
      retryAfterMs: retryAfterMs(retryAfter, Date.now()),
      isAboutBatch: status === 400 || status === 413 || status === 422,
    });
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #exchange(body: Buffer, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    const isTls = this.#url.protocol === 'https:';
    this.#agent ??= isTls
      ? new HttpsAgent({ keepAlive: true, maxSockets: 1, ...(this.#ca === undefined ? {} : { ca: [...this.#ca] }) })
      : new HttpAgent({ keepAlive: true, maxSockets: 1 });
    const options = {
      method: 'POST',
      agent: this.#agent,
      signal,
      headers: {
        ...headers,
        'content-length': body.length,
        'user-agent': 'Reeve',
        ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
      },
    };
    return new Promise((resolve, reject) => {
      // An aborted request reports the abort, not why it was aborted.
      const fail = (error: unknown) => reject(signal.aborted ? signal.reason : error);
      const request = (isTls ? requestHttps : requestHttp)(this.#url, options, (response) => {
        readAnswer(response).then(resolve, fail);
      });
      request.on('error', fail);
      request.end(body);
    });
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (size < mostAnswerBytes) chunks.push(chunk);
    size += chunk.length;
    if (size > 16 * mostAnswerBytes) throw new SinkError('an endless answer');
  }
  return {
    status: response.statusCode ?? 0,
    retryAfter: response.headers['retry-after'],
    text: Buffer.concat(chunks).toString('utf8', 0, mostAnswerBytes),
  };
}

/** The header is a number of seconds or a date. Anything else asks for nothing. */
export function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
