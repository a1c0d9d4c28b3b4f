import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { messageOf } from '../protocol/message.ts';
import type { Refusal } from './exchange.ts';
import { ownExchange } from './exchange.ts';
import { HttpUpstream } from './http-upstream.ts';

/** What the proxy makes of an answer. */
async function refusalFor(answer: (response: ServerResponse) => void): Promise<Refusal> {
  const server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const refused = Promise.withResolvers<Refusal>();
  const events = {
    message: async () => {},
    mark: async () => {},
    refused: (_: unknown, refusal: Refusal) => refused.resolve(refusal),
    ended: () => {},
    gone: () => {},
  };
  const upstream = new HttpUpstream({ url, headers: {} }, events, { opensStreams: false, tokens: undefined });
  await upstream.send(messageOf({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), ownExchange(undefined));
  const refusal = await refused.promise;
  await upstream.close();
  server.closeAllConnections();
  server.close();
  return refusal;
}

const json = { 'content-type': 'application/json' };

it.each([
  ['{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"evil"}]}}', json],
  ['[{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"evil"}]}}]', json],
  ['{"jsonrpc":"2.0","id":1,"error":null,"Result":{"tools":[{"name":"evil"}]}}', json],
  ['data: {"id":1,"result":{"tools":[{"name":"evil"}]}}\n\n', { 'content-type': 'text/event-stream' }],
])('a result does not come as an error of HTTP: %s', async (body, headers) => {
  const refusal = await refusalFor((response) => response.writeHead(400, headers).end(body));
  expect([refusal.status, refusal.body.includes('evil')]).toEqual([502, false]);
});

it.each([
  ['{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', json],
  ['{"message":"not found"}', json],
  ['Not found', { 'content-type': 'text/plain' }],
])('an error of HTTP passes: %s', async (body, headers) => {
  const refusal = await refusalFor((response) => response.writeHead(404, headers).end(body));
  expect(refusal).toEqual({ status: 404, contentType: headers['content-type'], body });
});

it('an answer in another protocol is none', async () => {
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
  expect((await refusalFor((response) => response.socket?.write(upgrade))).status).toBe(502);
});

it.each([401, 403, 407])(
  'HTTP %i is about the credentials of the proxy, and no challenge to the client',
  async (status) => {
    const challenge = { 'www-authenticate': 'Bearer resource_metadata="https://evil.example"' };
    const refusal = await refusalFor((response) =>
      response.writeHead(status, { ...json, ...challenge }).end('{"evil":1}'),
    );
    expect([refusal.status, JSON.stringify(refusal).includes('evil')]).toEqual([502, false]);
    expect(refusal.body).toContain(`does not accept the credentials of the proxy (HTTP ${status})`);
  },
);

it('a session that is left to others is named in what is cancelled, and is not ended', async () => {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push([request.method, request.headers['mcp-session-id']].join(' '));
    // The call is never answered.
    if (heard.length > 1) response.writeHead(202).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const events = {
    message: async () => {},
    mark: async () => {},
    refused: () => {},
    ended: () => {},
    gone: () => {},
  };
  const resumed = { id: 'shared', version: '2025-06-18' };
  const upstream = new HttpUpstream({ url, headers: {} }, events, { opensStreams: false, tokens: undefined, resumed });
  await upstream.send(messageOf({ jsonrpc: '2.0', id: 1, method: 'ping' }), ownExchange(undefined));
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  upstream.leave();
  await upstream.cancel(1, messageOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }));
  await upstream.close();
  expect(heard).toEqual(['POST shared', 'POST shared']);
  server.closeAllConnections();
  server.close();
});

it('a message that was rewritten has the headers of what it says now', async () => {
  const heard: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    heard.push(request.headers);
    response.writeHead(202).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const nothing = async () => {};
  const events = { message: nothing, mark: nothing, refused: () => {}, ended: () => {}, gone: () => {} };
  const upstream = new HttpUpstream({ url, headers: {} }, events, { opensStreams: false, tokens: undefined });
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const message = messageOf({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'a:two', _meta: meta } });
  const headers = { 'mcp-name': 'a:one', 'mcp-param-old': 'x', 'mcp-param-new': 'x', traceparent: 't' };
  const exchange = { ...ownExchange(undefined), headers };
  await upstream.send(message, exchange, { values: { 'mcp-param-new': 'y' }, isRewritten: true });
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  expect(heard[0]).toMatchObject({ 'mcp-name': 'a:two', 'mcp-param-new': 'y', traceparent: 't' });
  expect(heard[0]).not.toHaveProperty('mcp-param-old');
  await upstream.close();
  server.closeAllConnections();
  server.close();
});
