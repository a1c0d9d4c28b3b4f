import { expect, test } from 'vitest';
import type { Answer } from './caller.ts';
import { Caller, codeOf, valueOf } from './caller.ts';
import type { CallInit } from './ports.ts';

function callerOf(...responses: Response[]) {
  const sent: [string, CallInit][] = [];
  const caller = new Caller({
    baseUrl: 'http://gateway',
    fetch: (url, init) => {
      sent.push([url, init]);
      return Promise.resolve(responses.shift() ?? new Response('', { status: 500 }));
    },
  });
  return { caller, sent };
}

test('sends the credential and the body, and tells the media type alone', async () => {
  const { caller, sent } = callerOf(Response.json({ a: 1 }, { headers: { 'x-a': 'b' } }));
  const answer = await caller.call({ method: 'POST', path: '/x', bearer: 'key', body: { b: 2 } });
  expect(answer).toMatchObject({ status: 200, type: 'application/json', text: '{"a":1}' });
  expect(answer.headers).toContainEqual(['x-a', 'b']);
  expect(sent).toEqual([
    [
      'http://gateway/x',
      {
        method: 'POST',
        redirect: 'manual',
        headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
        body: '{"b":2}',
      },
    ],
  ]);
});

test('waits for as long as a limit says, and tries again', async () => {
  const limited = () => new Response('', { status: 429, headers: { 'retry-after': '0' } });
  const { caller } = callerOf(limited(), limited(), new Response('done'));
  const answer = await caller.call({ method: 'GET', path: '/x', bearer: undefined, body: undefined });
  expect(answer).toMatchObject({ status: 200, text: 'done' });
  expect(caller.calls).toBe(3);
});

test('waits for the first event of a stream, however busy the gateway is', async () => {
  const late = new ReadableStream<Uint8Array>({
    start: (controller) => {
      setTimeout(() => controller.enqueue(new TextEncoder().encode('data: hello\n\n')), 300);
    },
  });
  const { caller } = callerOf(new Response(late, { headers: { 'content-type': 'text/event-stream' } }));
  const answer = await caller.call({ method: 'GET', path: '/events', bearer: 'key', body: undefined });
  expect(answer.text).toBe('data: hello\n\n');
});

test('listens to a stream of events for a while, not for ever', async () => {
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: hello\n\n')),
  });
  const { caller } = callerOf(new Response(endless, { headers: { 'content-type': 'text/event-stream' } }));
  const answer = await caller.call({ method: 'GET', path: '/events', bearer: 'key', body: undefined });
  expect(answer.text).toBe('data: hello\n\n');
});

function answer(type: string, text: string): Answer {
  return { status: 200, type, headers: [], text };
}

test('events become values, without what stands around them and without one that is cut off', () => {
  const hello = 'event: hello\ndata: {"event_type":"hello","cursor":2}\n\n';
  const event = 'id: 2\nevent: agent\ndata: {"id":2}\n\n';
  expect(valueOf(answer('text/event-stream', hello))).toEqual([]);
  expect(valueOf(answer('text/event-stream', `${hello}: \n\n${event}id: 3\nevent: agent\ndata: {"id"`))).toEqual([
    { id: 2 },
  ]);
});

test('JSON, JSON lines and CSV become values, anything else does not', () => {
  expect(valueOf(answer('application/json', '{"a":1}'))).toEqual({ a: 1 });
  expect(valueOf(answer('application/problem+json', '{"code":"x"}'))).toEqual({ code: 'x' });
  expect(valueOf(answer('application/x-ndjson', '{"a":1}\n{"a":2}\n'))).toEqual([{ a: 1 }, { a: 2 }]);
  const csv = 'a,b,c\n1,"two, ""quoted""\nlines",\n,,4\n';
  expect(valueOf(answer('text/csv', csv))).toEqual([
    { a: '1', b: 'two, "quoted"\nlines', c: '' },
    { a: '', b: '', c: '4' },
  ]);
  expect(valueOf(answer('text/csv', 'a,b\n'))).toEqual([]);
  expect(valueOf(answer('application/json', '{'))).toBeUndefined();
  expect(valueOf(answer('text/html', '{}'))).toBeUndefined();
  expect(codeOf(answer('application/problem+json', '{"code":"not_found"}'))).toBe('not_found');
  expect(codeOf(answer('text/plain', 'no'))).toBe('');
});
