import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';

const patienceMs = 10 * 60_000;

export interface LoopbackRedirect {
  readonly port: number;
  /** The parameters of the first request with this state that `isAnswer` accepts. */
  answer(state: string, isAnswer: (parameters: URLSearchParams) => boolean): Promise<URLSearchParams>;
}

/**
 * Listens on loopback for the browser of the person on this computer, while `work` waits for it. A link that a stranger
 * makes leads to the loopback of its victim, so what it brings never reaches the stranger.
 */
export async function withLoopbackRedirect<Result>(
  words: { readonly done: string; readonly late: string },
  work: (redirect: LoopbackRedirect) => Promise<Result>,
): Promise<Result> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timer = new AbortController();
  const tooLate = async (): Promise<never> => {
    await sleep(patienceMs, undefined, { signal: timer.signal }).catch(() => undefined);
    throw new CliError(words.late);
  };
  try {
    return await work({
      port: (server.address() as AddressInfo).port,
      answer: (state, isAnswer) => {
        const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
        server.on('request', (request: IncomingMessage, response: ServerResponse) => {
          const parameters = URL.parse(request.url ?? '', 'http://127.0.0.1')?.searchParams ?? new URLSearchParams();
          const isOurs = request.method === 'GET' && isEqual(parameters.get('state') ?? '', state);
          const isTaken = isOurs && isAnswer(parameters);
          say(response, isTaken, isTaken ? words.done : 'This is no answer to the command.', () => resolve(parameters));
        });
        return Promise.race([promise, tooLate()]);
      },
    });
  } finally {
    timer.abort();
    server.close();
    server.closeIdleConnections();
  }
}

function say(response: ServerResponse, isTaken: boolean, words: string, take: () => void): void {
  response.writeHead(isTaken ? 200 : 400, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><title>Reeve</title><p>${words}</p></html>\n`, () => {
    if (isTaken) take();
  });
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
