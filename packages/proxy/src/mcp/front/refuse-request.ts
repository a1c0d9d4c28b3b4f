import type { ServerResponse } from 'node:http';

/** Answers a request that reaches no session. Clients expect an error of JSON-RPC in the body. */
export function refuseRequest(
  response: ServerResponse,
  status: number,
  message: string,
  {
    code = -32_000,
    headers = {},
  }: { readonly code?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
  // The rest of an unread body is not waited for.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(body);
}
