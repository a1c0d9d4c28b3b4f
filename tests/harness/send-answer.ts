import type { ServerResponse } from 'node:http';

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  // The odd spacing shows whether the bytes pass unchanged.
  const body = JSON.stringify(value, undefined, 1);
  response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req_1' }).end(body);
}

/** Begins a stream of events. */
export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_1' });
}

/** Sends one event, with a name where the protocol has one. */
export function sendEvent(response: ServerResponse, data: unknown, name?: string): void {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
}
