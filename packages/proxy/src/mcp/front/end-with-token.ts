import type { ServerResponse } from 'node:http';
import type { Caller } from './caller.ts';
import type { HttpExchange } from './http-exchange.ts';

const longestTimer = 2 ** 31 - 1;

/** A stream ends with the tokens that opened it. The client comes again with its next ones. */
export function endWithToken(
  { refused, acceptedUntil }: Caller,
  exchange: HttpExchange,
  response: ServerResponse,
): void {
  const cut = () => exchange.cut();
  const left = acceptedUntil === undefined ? longestTimer : Math.max(acceptedUntil - Date.now(), 0);
  const timer = setTimeout(cut, Math.min(left, longestTimer)).unref();
  refused.addEventListener('abort', cut, { once: true });
  response.once('close', () => {
    clearTimeout(timer);
    refused.removeEventListener('abort', cut);
  });
  if (refused.aborted) cut();
}
