import { HpackDecoder } from '../hpack/decoder.ts';
import { trailerBlock } from './response-blocks.ts';
import { expect, test, vi } from 'vitest';
import type { StreamListener } from '../handlers.ts';
import { errorCode, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import { data, emptySettings, frame, framed, request, word } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';

const hello = framed(Buffer.from('hello'));
const fault = () => {
  throw new Error('a fault');
};
const quiet: StreamListener = { message: () => undefined, ended: () => undefined, closed: () => undefined };

test.each<readonly [what: string, listener: Partial<StreamListener>]>([
  ['message', { message: fault }],
  ['ended', { ended: fault }],
])('a stream whose %s throws fails with the status of the error', async (_what, listener) => {
  const { client } = await testServer({ stream: { '/t/Fault': () => ({ ...quiet, ...listener }) } });
  const here = await client(emptySettings, request(1, '/t/Fault'), data(1, hello, true));
  const answer = await here.answer(1);
  expect([answer.get('grpc-status'), answer.get('grpc-message')]).toEqual(['9', 'a fault']);
});

test('a stream whose handler throws fails with the status of the error', async () => {
  const { client } = await testServer({ stream: { '/t/Fault': fault } });
  const here = await client(emptySettings, request(1, '/t/Fault'));
  expect((await here.answer(1)).get('grpc-status')).toBe('9');
  expect(await here.reset(1)).toBe(errorCode.noError);
});

test('faults when a call is over harm no other call', async () => {
  const { client } = await testServer({
    stream: { '/t/Fault': () => ({ ...quiet, closed: fault }) },
    unary: {
      '/t/Fault': (_message, call) => {
        call.onCancelled = fault;
      },
    },
  });
  const cancel = (id: number) => frame(frameType.rstStream, 0, id, word(errorCode.cancel));
  const here = await client(emptySettings, request(1, '/t/Fault'), data(1, hello, true), cancel(1));
  here.write(request(3, '/t/Fault'), cancel(3), request(5), data(5, hello, true));
  expect((await here.answer(5)).get('grpc-status')).toBe('0');
});

test('a stream that its handler ends at once is closed once', async () => {
  const closed = vi.fn();
  const { client } = await testServer({
    stream: {
      '/t/Ends': (stream) => {
        stream.end();
        return { ...quiet, closed };
      },
    },
  });
  const here = await client(emptySettings, request(1, '/t/Ends'));
  expect((await here.answer(1)).get('grpc-status')).toBe('0');
  await here.settled();
  expect(closed).toHaveBeenCalledTimes(1);
});

test('what comes after the end of a call is not sent', async () => {
  const late: boolean[] = [];
  const { client } = await testServer({
    unary: {
      '/t/Twice': (message, call) => {
        call.answer(message);
        call.answer(message);
        call.fail(new Error('late'));
      },
    },
    stream: {
      '/t/Late': (stream) => ({
        ...quiet,
        ended: () => {
          stream.end();
          late.push(stream.send(hello), stream.isOpen);
          stream.end();
          stream.fail(new Error('late'));
        },
      }),
    },
  });
  const here = await client(emptySettings, request(1, '/t/Twice'), data(1, hello, true));
  here.write(request(3, '/t/Late'), data(3, Buffer.alloc(0), true));
  expect((await here.answer(1)).get('grpc-status')).toBe('0');
  expect((await here.answer(3)).get('grpc-status')).toBe('0');
  await here.settled();
  expect(here.content(1)).toEqual(hello);
  expect(here.content(3)).toHaveLength(0);
  expect(late).toEqual([false, false]);
});

test('metadata that gRPC does not allow is the fault of the handler', async () => {
  const { client } = await testServer({
    unary: { '/t/Bad': (_message, call) => call.setHeaders([['Not Allowed', 'x']]) },
  });
  const here = await client(emptySettings, request(1, '/t/Bad'), data(1, hello, true));
  expect((await here.answer(1)).get('grpc-status')).toBe('9');
});

test('a deadline within an answer ends the call by a reset', async () => {
  const { client } = await testServer();
  const noWindow = settingsFrame([[settingId.initialWindowSize, 7]]);
  const here = await client(noWindow, request(1, '/t/Echo', ['grpc-timeout', '50m']), data(1, hello, true));
  expect(await here.reset(1)).toBe(errorCode.cancel);
  expect(here.content(1)).toHaveLength(7);
});

test('calls that are reset while they wait leave nothing behind', async () => {
  const { client } = await testServer({ limits: { unsentOfStrangers: 1000 } });
  const here = await client(settingsFrame([[settingId.initialWindowSize, 0]]));
  for (let id = 1; id < 400; id += 2) {
    here.write(request(id), data(id, hello, true), frame(frameType.rstStream, 0, id, word(errorCode.cancel)));
  }
  here.write(settingsFrame([[settingId.initialWindowSize, 100]]), request(401), data(401, hello, true));
  expect((await here.answer(401)).get('grpc-status')).toBe('0');
  expect(here.frames.filter(({ type }) => type === frameType.rstStream)).toEqual([]);
});

test('a status that says when to try again says it to clients that do so by themselves', () => {
  const block = trailerBlock({ code: 8, message: 'later', retryAfterMs: 2000 }, true, undefined, undefined);
  const fields = new HpackDecoder(4096, 4096).decode(block, 0, block.length).fields;
  expect(fields.map(({ name, value }) => [name, value])).toEqual([
    ['grpc-status', '8'],
    ['grpc-message', 'later'],
    ['grpc-retry-pushback-ms', '2000'],
  ]);
});
