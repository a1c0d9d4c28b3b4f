import type { ServerResponse } from 'node:http';
import type { JsonId } from '../protocol/message.ts';

interface RefusalDetails {
  readonly code?: number;
  /** The id of the request, where there is but one. */
  readonly id?: JsonId;
  /** What the error says beside its text. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request that reaches no session. Clients expect an error of JSON-RPC in the body. */
export function refuseRequest(
  response: ServerResponse,
  status: number,
  message: string,
  { code = -32_000, id = null, data, headers = {} }: RefusalDetails = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
  // The rest of an unread body is not waited for.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(body);
}
