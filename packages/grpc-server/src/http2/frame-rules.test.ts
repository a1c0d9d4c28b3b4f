import { describe, expect, test } from 'vitest';
import { encodeFields } from '../hpack/encoder.ts';
import type { RawClient } from '../testkit/raw-client.ts';
import {
  data,
  emptySettings,
  frame,
  framed,
  headers,
  ping,
  request,
  requestFields,
  word,
} from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';
import { errorCode, flag, frameType, settingId } from './frame.ts';
import { settingsFrame } from './settings.ts';

const hello = framed(Buffer.from('hello'));
const { data: DATA, headers: HEADERS, priority: PRIORITY, rstStream: RST, settings: SETTINGS } = frameType;
const { pushPromise: PUSH, ping: PING, goAway: GOAWAY, windowUpdate: WINDOW, continuation: CONTINUATION } = frameType;
const { endStream, endHeaders, padded, priority, ack } = flag;
const block = encodeFields(requestFields('/t/Echo'));
const streamCall = request(1, '/t/Stream');
const cancel = frame(RST, 0, 1, word(errorCode.cancel));

async function after(...frames: Uint8Array[]): Promise<RawClient> {
  const { client } = await testServer();
  return client(emptySettings, ...frames);
}

type Row = readonly [what: string, code: keyof typeof errorCode, ...frames: Uint8Array[]];

function cases(rows: readonly Row[]) {
  return rows.map(([what, code, ...frames]) => ({ what, code, frames }));
}

const connectionErrors: readonly Row[] = [
  ['§4.2 a frame over 2^14 bytes', 'frameSizeError', frame(DATA, 0, 1, Buffer.alloc(16_385))],
  ['§4.3 a block that cannot be decoded', 'compressionError', frame(HEADERS, endHeaders, 1, Buffer.from([0x80]))],
  ['§5.1 DATA on an idle stream', 'protocolError', data(1, hello)],
  ['§5.1 RST_STREAM on an idle stream', 'protocolError', cancel],
  ['§5.1 WINDOW_UPDATE on an idle stream', 'protocolError', frame(WINDOW, 0, 1, word(1))],
  ['§5.1 DATA after both sides ended', 'streamClosed', request(1), data(1, hello, true), data(1, hello)],
  ['§5.1 HEADERS after both sides ended', 'streamClosed', request(1), data(1, hello, true), request(1)],
  ['§5.1 DATA after its RST_STREAM', 'streamClosed', streamCall, cancel, data(1, hello)],
  ['§5.1.1 an even stream', 'protocolError', request(2)],
  ['§5.1.1 a stream below the last', 'protocolError', request(5), request(3)],
  ['§6.1 DATA on stream 0', 'protocolError', data(0, hello)],
  ['§6.1 padding as long as DATA', 'protocolError', streamCall, frame(DATA, padded, 1, Buffer.from([3, 0, 0]))],
  ['§6.1 padded DATA without a byte', 'frameSizeError', streamCall, frame(DATA, padded, 1)],
  ['§6.2 HEADERS on stream 0', 'protocolError', request(0)],
  ['§6.2 padding longer than HEADERS', 'protocolError', frame(HEADERS, endHeaders | padded, 1, Buffer.from([9, 0x82]))],
  ['§6.2 HEADERS without its priority', 'frameSizeError', frame(HEADERS, endHeaders | priority, 1, Buffer.alloc(4))],
  ['§6.2 another frame within a block', 'protocolError', frame(HEADERS, 0, 1, block), ping()],
  ['§6.2 DATA within a block', 'protocolError', frame(HEADERS, 0, 1, block), data(1, hello)],
  ['§5.5 an unknown frame within a block', 'protocolError', frame(HEADERS, 0, 1, block), frame(0x20, 0, 0)],
  ['§6.3 PRIORITY on stream 0', 'protocolError', frame(PRIORITY, 0, 0, Buffer.alloc(5))],
  ['§6.3 PRIORITY of four bytes on an idle stream', 'frameSizeError', frame(PRIORITY, 0, 1, Buffer.alloc(4))],
  ['§6.4 RST_STREAM on stream 0', 'protocolError', frame(RST, 0, 0, word(8))],
  ['§6.4 RST_STREAM of three bytes', 'frameSizeError', streamCall, frame(RST, 0, 1, Buffer.alloc(3))],
  ['§6.5 SETTINGS on a stream', 'protocolError', frame(SETTINGS, 0, 1)],
  ['§6.5 SETTINGS ACK with a payload', 'frameSizeError', frame(SETTINGS, ack, 0, Buffer.alloc(6))],
  ['§6.5 SETTINGS of five bytes', 'frameSizeError', frame(SETTINGS, 0, 0, Buffer.alloc(5))],
  ['§6.5.2 ENABLE_PUSH of 2', 'protocolError', settingsFrame([[settingId.enablePush, 2]])],
  ['§6.5.2 INITIAL_WINDOW_SIZE of 2^31', 'flowControlError', settingsFrame([[settingId.initialWindowSize, 2 ** 31]])],
  ['§6.5.2 MAX_FRAME_SIZE of 2^14-1', 'protocolError', settingsFrame([[settingId.maxFrameSize, 16_383]])],
  ['§6.5.2 MAX_FRAME_SIZE of 2^24', 'protocolError', settingsFrame([[settingId.maxFrameSize, 2 ** 24]])],
  ['§6.6 PUSH_PROMISE', 'protocolError', frame(PUSH, endHeaders, 1, Buffer.concat([word(2), block]))],
  ['§6.7 PING on a stream', 'protocolError', frame(PING, 0, 1, Buffer.alloc(8))],
  ['§6.7 PING of seven bytes', 'frameSizeError', frame(PING, 0, 0, Buffer.alloc(7))],
  ['§6.8 GOAWAY on a stream', 'protocolError', frame(GOAWAY, 0, 1, Buffer.alloc(8))],
  ['§6.8 GOAWAY of seven bytes', 'frameSizeError', frame(GOAWAY, 0, 0, Buffer.alloc(7))],
  ['§6.9 WINDOW_UPDATE of three bytes', 'frameSizeError', frame(WINDOW, 0, 0, Buffer.alloc(3))],
  ['§6.9 WINDOW_UPDATE of 0 for the connection', 'protocolError', frame(WINDOW, 0, 0, word(0))],
  ['§6.9.1 a window of the connection over 2^31-1', 'flowControlError', frame(WINDOW, 0, 0, word(0x7fff_ffff))],
  [
    '§6.9.2 a window of a stream over 2^31-1 by SETTINGS',
    'flowControlError',
    streamCall,
    frame(WINDOW, 0, 1, word(0x7fff_0000)),
    settingsFrame([[settingId.initialWindowSize, 0x7fff_ffff]]),
  ],
  ['§6.10 CONTINUATION without HEADERS', 'protocolError', frame(CONTINUATION, endHeaders, 1, block)],
  ['§6.10 CONTINUATION of another stream', 'protocolError', frame(HEADERS, 0, 1, block), frame(CONTINUATION, 4, 3)],
  ['§6.10 CONTINUATION after the end', 'protocolError', streamCall, frame(CONTINUATION, endHeaders, 1)],
];

describe('the connection ends with GOAWAY', () => {
  test.each(cases(connectionErrors))('$what: $code', async ({ code, frames }) => {
    const client = await after(...frames);
    expect(await client.goAway()).toBe(errorCode[code]);
    await client.closed();
  });

  test('§3.4 the preface is not that of HTTP/2: protocolError', async () => {
    const here = await testServer();
    const client = await here.silentClient();
    client.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    expect(await client.goAway()).toBe(errorCode.protocolError);
    await client.closed();
  });

  test.each([
    ['PING', ping()],
    ['DATA', data(1, hello)],
    ['the ACK of SETTINGS', frame(SETTINGS, ack, 0)],
  ])('§3.4 the first frame is %s: protocolError', async (_what, first) => {
    const { client } = await testServer();
    expect(await (await client(first)).goAway()).toBe(errorCode.protocolError);
  });
});

const streamErrors: readonly Row[] = [
  ['§5.1 DATA after END_STREAM', 'streamClosed', request(1, '/t/Hang'), data(1, hello, true), data(1, hello)],
  ['§5.1 HEADERS after END_STREAM', 'streamClosed', request(1, '/t/Hang'), data(1, hello, true), request(1)],
  ['§6.3 PRIORITY of four bytes', 'frameSizeError', streamCall, frame(PRIORITY, 0, 1, Buffer.alloc(4))],
  ['§6.9 WINDOW_UPDATE of 0', 'protocolError', streamCall, frame(WINDOW, 0, 1, word(0))],
  ['§6.9.1 a window over 2^31-1', 'flowControlError', streamCall, frame(WINDOW, 0, 1, word(0x7fff_ffff))],
  ['§8.1 trailers without END_STREAM', 'protocolError', streamCall, headers(1, [['x', 'y']])],
  ['§8.1 trailers with a pseudo-header field', 'protocolError', streamCall, headers(1, [[':path', '/']], true)],
  [
    '§8.1.1 less than content-length',
    'protocolError',
    request(1, '/t/Echo', ['content-length', '11']),
    data(1, hello, true),
  ],
  [
    '§8.1.1 more than content-length',
    'protocolError',
    request(1, '/t/Echo', ['content-length', '9']),
    data(1, hello, true),
  ],
  ['§8.1.1 content-length is no number', 'protocolError', request(1, '/t/Echo', ['content-length', 'x'])],
  ['§8.2 a name in capitals', 'protocolError', request(1, '/t/Echo', ['X-Name', '1'])],
  ['§8.2.1 a name with a space', 'protocolError', request(1, '/t/Echo', ['x name', '1'])],
  ['§8.2.1 an empty name', 'protocolError', request(1, '/t/Echo', ['', '1'])],
  ['§8.2.1 a value with a line break', 'protocolError', request(1, '/t/Echo', ['x', 'a\nb'])],
  ['§8.2.1 a value with NUL', 'protocolError', request(1, '/t/Echo', ['x', 'a\0b'])],
  ['§8.2.1 a value that ends with a space', 'protocolError', request(1, '/t/Echo', ['x', 'a '])],
  ['§8.2.2 connection', 'protocolError', request(1, '/t/Echo', ['connection', 'close'])],
  ['§8.2.2 transfer-encoding', 'protocolError', request(1, '/t/Echo', ['transfer-encoding', 'chunked'])],
  ['§8.2.2 te other than trailers', 'protocolError', request(1, '/t/Echo', ['te', 'gzip'])],
  ['§8.3 a pseudo-header field after others', 'protocolError', headers(1, [['x', 'y'], ...requestFields('/t/Echo')])],
  ['§8.3 an unknown pseudo-header field', 'protocolError', headers(1, [[':x', 'y'], ...requestFields('/t/Echo')])],
  ['§8.3 :status in a request', 'protocolError', headers(1, [[':status', '200'], ...requestFields('/t/Echo')])],
  ['§8.3.1 :path twice', 'protocolError', headers(1, [[':path', '/'], ...requestFields('/t/Echo')])],
  [
    '§8.3.1 no :path',
    'protocolError',
    headers(
      1,
      requestFields('/').filter(([name]) => name !== ':path'),
    ),
  ],
  [
    '§8.3.1 no :scheme',
    'protocolError',
    headers(
      1,
      requestFields('/').filter(([name]) => name !== ':scheme'),
    ),
  ],
  [
    '§8.3.1 no :method',
    'protocolError',
    headers(
      1,
      requestFields('/').filter(([name]) => name !== ':method'),
    ),
  ],
  ['§8.3.1 an empty :path', 'protocolError', request(1, '')],
];

describe('the stream ends with RST_STREAM, and the connection goes on', () => {
  test.each(cases(streamErrors))('$what: $code', async ({ code, frames }) => {
    const client = await after(...frames);
    expect(await client.reset(1)).toBe(errorCode[code]);
    client.write(request(3), data(3, hello, true));
    expect((await client.answer(3)).get('grpc-status')).toBe('0');
  });

  test('§6.9.1 DATA beyond the window of a stream: flowControlError', async () => {
    const { client } = await testServer({
      stream: {
        '/t/Paused': (stream) => {
          stream.pause();
          return { message: () => undefined, ended: () => undefined, closed: () => undefined };
        },
      },
    });
    const here = await client();
    const part = data(1, Buffer.alloc(16_000));
    here.write(request(1, '/t/Paused'), part, part, part, part, part);
    expect(await here.reset(1)).toBe(errorCode.flowControlError);
    await here.settled();
  });
});

describe('nothing happens', () => {
  test.each<readonly [what: string, frames: Uint8Array[]]>([
    ['§5.5 at a frame of an unknown type', [frame(0x20, 255, 7, Buffer.from('any'))]],
    ['§6.3 at PRIORITY on an idle stream', [frame(PRIORITY, 0, 9, Buffer.alloc(5))]],
    ['§6.5.2 at an unknown setting', [settingsFrame([[0x77, 1]])]],
    ['§6.7 at an ACK of no PING', [ping('12345678', true)]],
    ['§6.8 at GOAWAY', [frame(GOAWAY, 0, 0, Buffer.alloc(8))]],
    ['§5.1 at RST_STREAM on a closed stream', [request(1), data(1, hello, true), cancel]],
    ['§5.1 at WINDOW_UPDATE on a closed stream', [request(1), data(1, hello, true), frame(WINDOW, 0, 1, word(1))]],
    ['§5.1 at DATA on a stream that was reset from here', [request(1, '/t/None'), data(1, hello)]],
  ])('%s', async (_what, frames) => {
    const client = await after(...frames);
    client.write(request(11), data(11, hello, true));
    expect((await client.answer(11)).get('grpc-status')).toBe('0');
    expect(client.content(11)).toEqual(hello);
  });

  test('§6.1, §6.2 at padding, priority and CONTINUATION', async () => {
    const opening = Buffer.concat([Buffer.from([4, 0, 0, 0, 0, 7]), block.subarray(0, 10), Buffer.alloc(4)]);
    const client = await after(
      frame(HEADERS, padded | priority, 1, opening),
      frame(CONTINUATION, 0, 1),
      frame(CONTINUATION, endHeaders, 1, block.subarray(10)),
      frame(DATA, padded, 1, Buffer.concat([Buffer.from([2]), hello.subarray(0, 7), Buffer.alloc(2)])),
      frame(DATA, padded | endStream, 1, Buffer.concat([Buffer.from([255]), hello.subarray(7), Buffer.alloc(255)])),
    );
    expect((await client.answer(1)).get('grpc-status')).toBe('0');
    expect(client.content(1)).toEqual(hello);
  });
});
