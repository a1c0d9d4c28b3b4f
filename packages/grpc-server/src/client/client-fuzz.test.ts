import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { goAwayFrame } from '../http2/control-frames.ts';
import { errorCode, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import { data, emptySettings, frame, framed, headers, ping, word } from '../testkit/raw-client.ts';
import { answer, answerHead, rawServer, trailers } from '../testkit/raw-server.ts';
import { testClient } from '../testkit/test-client.ts';

const stream = fc.constantFrom(0, 1, 1, 1, 3, 3, 3, 5, 2, 9);
const bytes = fc.uint8Array({ maxLength: 60 });

/** Frames that make sense more often than not, so that they get somewhere. */
const likely = fc.oneof(
  stream.map((id) => answerHead(id)),
  stream.map((id) => trailers(id)),
  fc.tuple(stream, bytes).map(([id, content]) => answer(id, content)),
  fc
    .tuple(stream, fc.constantFrom('100', '200', '404', '503'), fc.boolean())
    .map(([id, code, isLast]) => headers(id, [[':status', code]], isLast)),
  fc.tuple(stream, bytes, fc.boolean()).map(([id, content, isLast]) => data(id, framed(content), isLast)),
  fc.tuple(stream, bytes, fc.nat(100)).map(([id, content, declared]) => data(id, framed(content, declared))),
  fc.tuple(stream, fc.nat(200)).map(([id, increment]) => frame(frameType.windowUpdate, 0, id, word(increment))),
  fc.tuple(stream, fc.nat(13)).map(([id, code]) => frame(frameType.rstStream, 0, id, word(code))),
  fc
    .tuple(fc.constantFrom(settingId.initialWindowSize, settingId.maxConcurrentStreams), fc.nat(40))
    .map(([id, value]) => settingsFrame([[id, value]])),
  fc.nat(9).map((last) => goAwayFrame(last, errorCode.noError, 'bye')),
  fc.constant(ping()),
);
const any = fc
  .tuple(fc.nat(11), fc.nat(255), stream, bytes)
  .map(([type, flags, id, payload]) => frame(type, flags, id, payload));

test('whatever a server sends, every call ends, and the client goes on', async () => {
  let attack = Buffer.alloc(0);
  const server = await rawServer((peer) => {
    peer.write(emptySettings);
    const script = attack;
    // What is cut in two places is read in three parts.
    for (const part of [script.subarray(0, 7), script.subarray(7, 50), script.subarray(50)]) peer.write(part);
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 9, arbitrary: likely }, { weight: 1, arbitrary: any }), { maxLength: 25 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }),
      async (frames, flips) => {
        attack = Buffer.concat(frames);
        for (const [at, value] of flips) if (attack.length > 0) attack[at % attack.length] = value;
        const limits = { firstBackoffMs: 1, longestBackoffMs: 1 };
        const { client, call } = testClient({ address: server.address, limits });
        const heard: number[] = [];
        const calls = [
          call('/t/Echo', undefined, { timeoutMs: 60 }),
          call('/t/Echo', Buffer.alloc(300), { timeoutMs: 60 }),
        ];
        const streamed = new Promise<void>((resolve) => {
          const listener = { message: () => {}, ended: ({ code }: { code: number }) => (heard.push(code), resolve()) };
          client.stream('/t/Stream', { timeoutMs: 60 }, listener).send(Buffer.alloc(70_000));
        });
        for (const { code, answer: got } of await Promise.all(calls)) expect(code === 0).toBe(got !== undefined);
        await streamed;
        await new Promise((resolve) => setImmediate(resolve));
        expect(heard).toHaveLength(1);
        client.close();
      },
    ),
    { numRuns: 150 },
  );
});
