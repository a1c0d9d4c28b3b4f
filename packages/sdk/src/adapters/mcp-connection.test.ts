import { expect, it } from 'vitest';
import { McpConnection } from './mcp-connection.ts';

it('once a result is judged, a server cancels its own requests by their ids, and says nothing else by that', () => {
  const heard: unknown[] = [];
  const transport = { send: async () => {}, onmessage: (message: unknown) => void heard.push(message) };
  const connection = new McpConnection();
  connection.watch(transport);
  const cancel = (requestId: unknown) =>
    transport.onmessage({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'a@b.de' } });
  const ask = (id: unknown) => transport.onmessage({ jsonrpc: '2.0', id, method: 'roots/list', params: {} });
  ask('asked-before');
  connection.judge();
  ask('asked-later');
  heard.length = 0;
  for (const id of ['a@b.de', { mail: 'a@b.de' }, ['a@b.de'], undefined]) cancel(id);
  expect(heard).toEqual([]);
  for (const id of ['asked-before', 'asked-later', 7]) cancel(id);
  const params = ['asked-before', 'asked-later', 7].map((requestId) => ({ requestId }));
  expect(heard).toEqual(params.map((each) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: each })));
});
