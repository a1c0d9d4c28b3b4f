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
  ask(7);
  heard.length = 0;
  for (const id of ['a@b.de', 4_111_111_111_111_111, '7', { mail: 'a@b.de' }, ['a@b.de'], undefined]) cancel(id);
  expect(heard).toEqual([]);
  for (const id of ['asked-before', 'asked-later', 7]) cancel(id);
  const params = ['asked-before', 'asked-later', 7].map((requestId) => ({ requestId }));
  expect(heard).toEqual(params.map((each) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: each })));
});

it.each([
  [{ progress: 4_111_111_111_111_111, total: 4_111_111_111_111_111 }, { progress: 0 }],
  [{ progress: -4_111_111_111_111_111, total: 1e300 }, { progress: 0 }],
  [{ progress: 0.411_111_111_111_111_1 }, { progress: 0.411_111_111_11 }],
  [
    { progress: 41_111_111.111_111_11, total: 99_999_999_999 },
    { progress: 41_111_111.111, total: 99_999_999_999 },
  ],
  [
    { progress: 99_999_999_999.999, total: 3 },
    { progress: 100_000_000_000, total: 3 },
  ],
  [{ progress: 7, total: 'a@b.de' }, { progress: 7 }],
])('progress of a judged call has no number as long as that of a card: %j', (said, left) => {
  const heard: unknown[] = [];
  const transport = { send: async () => {}, onmessage: (message: unknown) => void heard.push(message) };
  const connection = new McpConnection();
  connection.watch(transport);
  connection.judge();
  const report = (params: object) => ({ jsonrpc: '2.0', method: 'notifications/progress', params });
  transport.onmessage(report({ progressToken: 1, message: 'a@b.de', ...said }));
  expect(heard).toEqual([report({ progressToken: 1, ...left })]);
});
