import type { IncomingMessage } from 'node:http';
import { answerHeaders } from './forward-headers.ts';
import type { ModelCall } from './model-call.ts';

/** Passes on the head of the upstream's answer, without these headers. */
export function sendHead(call: ModelCall, answer: IncomingMessage, without: readonly string[] = []): void {
  const headers = answerHeaders(answer, call.upstream.apiKey, without);
  if (call.opId !== '') headers.push('x-reeve-op-id', call.opId);
  call.response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', headers);
}
