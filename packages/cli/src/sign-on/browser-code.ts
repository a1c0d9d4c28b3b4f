import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError } from '../cli-error.ts';

/** A code from the browser, and what proves that it was made for this command. */
export interface BrowserCode {
  readonly code: string;
  readonly verifier: string;
}

const patienceMs = 10 * 60_000;

/**
 * Gets a code from the browser of the person on this computer. The command listens on loopback, and the page of the
 * gateway sends the browser there once the person has let the command in. A link that a stranger makes leads to the
 * loopback of its victim, so the code never reaches the stranger.
 */
export async function askBrowser(apiUrl: string, show: (url: string) => void): Promise<BrowserCode> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const { promise, resolve } = Promise.withResolvers<string>();
  const server = createServer((request, response) => answer(request, response, state, resolve));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timer = new AbortController();
  try {
    const { port } = server.address() as AddressInfo;
    const challenge = createHash('sha256').update(verifier).digest('hex');
    show(`${apiUrl}/cli-login?${new URLSearchParams({ port: String(port), challenge, state }).toString()}`);
    return { code: await Promise.race([promise, tooLate(timer.signal)]), verifier };
  } finally {
    timer.abort();
    server.close();
    server.closeIdleConnections();
  }
}

async function tooLate(signal: AbortSignal): Promise<never> {
  const { setTimeout: sleep } = await import('node:timers/promises');
  await sleep(patienceMs, undefined, { signal }).catch(() => undefined);
  throw new CliError('nobody has signed in by the browser within ten minutes');
}

function answer(request: IncomingMessage, response: ServerResponse, state: string, take: (code: string) => void): void {
  const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
  const code = url?.searchParams.get('code') ?? '';
  const isOurs = request.method === 'GET' && isEqual(url?.searchParams.get('state') ?? '', state);
  const isCode = isOurs && /^[\w-]{1,128}$/.test(code);
  const words = isCode ? 'You are signed in. You can close this window.' : 'This is no answer to the command.';
  response.writeHead(isCode ? 200 : 400, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><title>Reeve</title><p>${words}</p></html>\n`, () => {
    if (isCode) take(code);
  });
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
