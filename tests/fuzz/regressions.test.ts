import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { readDocument } from './document.ts';
import type { WireRequest } from './wire.ts';
import { send } from './wire.ts';

/** The findings of fuzzing, each as the one request that shows it. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function answerTo(method: string, target: string, request: Partial<WireRequest> = {}) {
  const { headers = [], body } = request;
  const authorization = ['authorization', `Bearer ${bootstrapKey}`] as const;
  const answer = await send(gateway.http, { method, target, headers: [authorization, ...headers], body });
  const type = answer.headers.get('content-type');
  return { status: answer.status, type, body: JSON.parse(answer.body.toString()) as { code?: string } };
}

const json = ['content-type', 'application/json'] as const;

describe('nobody reads the body of a request that has nowhere to go', () => {
  const bodies: [string, string, Buffer][] = [
    ['malformed', 'application/json', Buffer.from('{')],
    ['oversized', 'application/json', Buffer.alloc(2 * 1024 * 1024, '"')],
    ['of another type', 'text/plain', Buffer.from('x')],
  ];
  test.each(bodies)('a body that is %s at an unknown path is a 404', async (_what, type, body) => {
    const answer = await answerTo('POST', '/nowhere', { headers: [['content-type', type]], body });
    expect(answer).toMatchObject({ status: 404, type: 'application/problem+json', body: { code: 'not_found' } });
  });

  test.each(bodies)('a body that is %s with a wrong method is a 405', async (_what, type, body) => {
    const answer = await answerTo('PATCH', '/healthz', { headers: [['content-type', type]], body });
    expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
  });
});

test('an expectation that nobody knows is ignored like any unknown header, not answered without a problem', async () => {
  const headers = [json, ['expect', 'something else']] as const;
  const body = Buffer.from('{');
  expect(await answerTo('GET', '/healthz', { headers: [['expect', 'something else']] })).toMatchObject({ status: 200 });
  expect(await answerTo('POST', '/api/v1/auth/token', { headers, body })).toMatchObject({
    status: 400,
    type: 'application/problem+json',
    body: { code: 'malformed_json' },
  });
});

test('the document names what routes without a body answer to one', async () => {
  const { operations } = await readDocument(gateway.http);
  const path = '/api/v1/auth/ws-ticket';
  const declared = operations.find((operation) => operation.path === path)?.answers ?? {};
  const sent = [
    [422, 'application/json', Buffer.from('{"a":1}')],
    [415, 'text/plain', Buffer.from('x')],
    [413, 'application/json', Buffer.alloc(1024 * 1024 + 1, ' ')],
    [400, 'application/json', Buffer.from('{')],
  ] as const;
  for (const [status, type, body] of sent) {
    expect(await answerTo('POST', path, { headers: [['content-type', type]], body })).toMatchObject({ status });
    expect(Object.keys(declared)).toContain(String(status));
  }
});

test('the document names every type that the export comes in', async () => {
  const { operations } = await readDocument(gateway.http);
  const answer = operations.find(({ path }) => path === '/api/v1/logs/export')?.answers['200'];
  expect(Object.keys(answer?.content ?? {})).toEqual(['application/x-ndjson', 'text/csv']);
});

test('a refusal reaches a client that is still sending', async () => {
  const headers = { authorization: `Bearer ${bootstrapKey}`, 'content-type': 'application/json' };
  const body = `"${'x'.repeat(16 * 1024 * 1024)}"`;
  for (let attempt = 0; attempt < 10; attempt++) {
    const { status } = await fetch(`${gateway.http}/api/v1/auth/token`, { method: 'POST', headers, body });
    expect(status).toBe(413);
  }
});
