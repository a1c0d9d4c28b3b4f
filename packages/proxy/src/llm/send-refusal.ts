import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ProviderKind, Refusal } from './refusal.ts';
import { errorBodyOf } from './refusal.ts';

/** Answers in the form of the provider whose client asks. */
export function sendRefusal(response: ServerResponse, kind: ProviderKind, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify(errorBodyOf(kind, refusal)));
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...(refusal.opId === '' ? {} : { 'x-reeve-op-id': refusal.opId }),
    ...(refusal.retryAfter === undefined ? {} : { 'retry-after': String(refusal.retryAfter) }),
    ...(refusal.isFinal ? { 'x-should-retry': 'false' } : {}),
    ...(refusal.code === 'misdirected_request' ? { connection: 'close' } : {}),
  };
  response.writeHead(refusal.status, headers);
  response.end(body);
}
