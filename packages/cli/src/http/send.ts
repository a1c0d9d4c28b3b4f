import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import http from 'node:http';
import { CliError } from '../cli-error.ts';
import { describeFailure } from './describe-failure.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How long to wait for the head of the answer, and then for each further piece. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  /** Of the request. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The caller reads it to its end, or destroys it. */
  readonly body: IncomingMessage;
}

/** Sends one request. Never follows a redirect: the credential goes only to the intended place. */
export async function send(request: HttpRequest): Promise<HttpAnswer> {
  const url = new URL(request.url);
  const { request: start } = url.protocol === 'https:' ? (await import('node:https')).default : http;
  return new Promise((resolve, reject) => {
    const body = request.body === undefined ? undefined : Buffer.from(request.body);
    const outgoing = start(url, {
      method: request.method,
      headers: { ...request.headers, ...(body === undefined ? {} : { 'content-length': body.byteLength }) },
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const timer = setTimeout(() => outgoing.destroy(new TimeoutError(request.timeoutMs)), request.timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(describeFailure(error, url));
    };
    outgoing.on('error', fail);
    outgoing.on('response', (incoming) => {
      clearTimeout(timer);
      resolve({ url: request.url, status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming });
    });
    outgoing.end(body);
  });
}

/** An answer did not come in time. */
export class TimeoutError extends Error {
  readonly code = 'REEVE_TIMEOUT';

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1000} s`);
  }
}

const mostBytes = 256 * 1024 * 1024;

/** The whole body as text. */
export async function readText({ body, url }: HttpAnswer, timeoutMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readChunks(body, url, timeoutMs)) {
    size += chunk.byteLength;
    if (size > mostBytes) throw new CliError(`the answer of ${url} is too large`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The body piece by piece. Throws if it breaks off or is silent for too long. */
export async function* readChunks(body: IncomingMessage, url: string, timeoutMs: number): AsyncGenerator<Buffer> {
  const silent = () => body.destroy(new TimeoutError(timeoutMs));
  let timer = setTimeout(silent, timeoutMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(silent, timeoutMs);
    }
  } catch (error) {
    throw describeFailure(error instanceof Error ? error : new Error(String(error)), new URL(url), 'body');
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}
