import { expect, it } from 'vitest';
import { ambiguityOf } from './ambiguity.ts';
import { messageOf } from './message.ts';

it.each([
  { method: 'ping', Method: 'tools/call' },
  { method: 'tools/call', params: { name: 'a' }, Params: { name: 'b' } },
  { method: 'tools/call', params: { name: 'a' }, 'param\u017f': { name: 'b' } },
  { method: 'tools/call', params: { name: 'a', Name: 'b' } },
  { method: 'tools/call', params: { name: 'a', ARGUMENTS: {} } },
  { method: 'tools/call', params: { name: 'a', 'argument\u017f': {} } },
  { method: ['tools/call'], params: { name: 'b' } },
  { method: 'x', result: {} },
  { method: 'x', error: {} },
  { ID: 1, method: 'tools/call' },
  { Result: {} },
])('%j means different things to different readers', (members) => {
  expect(ambiguityOf(messageOf({ id: 1, ...members }))).toBeDefined();
});

it.each([
  { method: 'tools/call', params: { name: 'a', arguments: { Name: 'b', name: 'c' }, _meta: {}, task: {} } },
  { method: 'x', params: { Name: 'b' }, result: null },
  { method: null, result: {}, error: null },
  { result: { Tools: [] }, extension: 1 },
])('%j means the same to all', (members) => {
  expect(ambiguityOf(messageOf({ id: 1, ...members }))).toBeUndefined();
});
