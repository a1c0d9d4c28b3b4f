import { expect, expectTypeOf, test } from 'vitest';
import { startClient } from '../test/client.ts';
import { allowing, denying } from '../test/scripted-answers.ts';
import type { Operation } from './index.ts';
import { ActionDeniedError, OperationTerminatedError } from './index.ts';

/** The arguments that the gateway saw, one entry per call. */
function argsSeen(gateway: Awaited<ReturnType<typeof startClient>>['gateway']): unknown[] {
  return gateway.messages('checkAction').map(({ context }) => {
    if (context?.action?.$case !== 'toolCall') return 'no tool call';
    const { toolName, toolSource, argsJson } = context.action.value;
    const text = Buffer.from(argsJson).toString();
    return [toolName, toolSource, text === '' ? undefined : JSON.parse(text)];
  });
}

function searchDocs(topic: string, limit = 10): string {
  return `${limit} pages on ${topic}`;
}

test('a guarded function is the function, with a check before each call', async () => {
  await using client = await startClient();
  const search = client.agent.guard('search_docs', searchDocs);
  expectTypeOf(search).parameters.toEqualTypeOf<[topic: string, limit?: number | undefined]>();
  expectTypeOf(search).returns.toEqualTypeOf<Promise<string>>();
  expect(await search('refunds')).toBe('10 pages on refunds');
  expect(await search('returns', 2)).toBe('2 pages on returns');
  const read = client.agent.guard('read_file', async ({ path }: { path: string }) => Buffer.from(path), {
    source: 'files',
    runId: 'ticket-4711',
  });
  expectTypeOf(read).toEqualTypeOf<(where: { path: string }) => Promise<Buffer<ArrayBuffer>>>();
  expect(String(await read({ path: '/etc/hosts' }))).toBe('/etc/hosts');
  const now = client.agent.guard('now', () => 7);
  expect(await now()).toBe(7);
  expect(argsSeen(client.gateway)).toEqual([
    ['search_docs', '', ['refunds']],
    ['search_docs', '', ['returns', 2]],
    ['read_file', 'files', { path: '/etc/hosts' }],
    ['now', '', undefined],
  ]);
  expect(client.gateway.messages('checkAction')[2]).toMatchObject({ runId: 'ticket-4711' });
  expect(client.gateway.count('completeAction')).toBe(4);
  const operations = client.gateway.messages('checkAction').map(({ traceId, spanId }) => `${traceId}:${spanId}`);
  expect(new Set(operations).size).toBe(4);
});

test('a denied call is an error, and the function is not called', async () => {
  await using client = await startClient({
    checkAction: (request, nth) => (nth === 1 ? denying('no') : allowing)(request),
  });
  let calls = 0;
  const erase = client.agent.guard('erase', async () => ++calls);
  await expect(erase()).rejects.toBeInstanceOf(ActionDeniedError);
  expect(calls).toBe(0);
  expect(await erase()).toBe(1);
});

test('what policies see of the arguments can be chosen', async () => {
  await using client = await startClient();
  const send = client.agent.guard('send_mail', (to: string, _text: string, _signal: AbortSignal) => to, {
    args: (to) => ({ to }),
  });
  await send('ann@example.com', 'secret', AbortSignal.timeout(1000));
  expect(argsSeen(client.gateway)).toEqual([['send_mail', '', { to: 'ann@example.com' }]]);
});

test('a function that wants the operation gets it as its last argument', async () => {
  await using client = await startClient();
  const crawl = client.agent.guard(
    'crawl',
    async (url: string, operation: Operation) => {
      client.gateway.control(operation.id, 'TERMINATE', { reason: 'enough' });
      await new Promise((_, reject) => {
        operation.signal.addEventListener('abort', () => reject(operation.signal.reason));
      });
      return url;
    },
    { passOperation: true, args: (url) => ({ url }) },
  );
  expectTypeOf(crawl).toEqualTypeOf<(url: string) => Promise<string>>();
  await expect.poll(() => client.gateway.streams.size, { timeout: 20_000 }).toBe(1);
  await expect(crawl('https://example.com')).rejects.toThrow(OperationTerminatedError);
  expect(argsSeen(client.gateway)).toEqual([['crawl', '', { url: 'https://example.com' }]]);
  expect(client.gateway.acks).toEqual(['1 received', '1 effective']);
});

test('an argument that JSON cannot say is an error before anything is asked', async () => {
  await using client = await startClient();
  const count = client.agent.guard('count', (most: bigint) => most);
  await expect(count(7n)).rejects.toThrow('action.args: cannot be written as JSON');
  expect(client.gateway.count('checkAction')).toBe(0);
});

test('a generator cannot be guarded, because its work comes after it has returned', async () => {
  await using client = await startClient();
  const { agent } = client;
  async function* later() {
    yield await Promise.resolve(1);
  }
  expect(() => agent.guard('later', later)).toThrow(/generator/);
  expect(() => agent.guard('now', function* now() {})).toThrow(/generator/);
});
