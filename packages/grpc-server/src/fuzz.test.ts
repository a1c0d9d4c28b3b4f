import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorCode, frameType, settingId } from './http2/frame.ts';
import { settingsFrame } from './http2/settings.ts';
import { data, emptySettings, frame, framed, ping, request, word } from './testkit/raw-client.ts';
import { testServer } from './testkit/test-server.ts';

const stream = fc.constantFrom(0, 1, 3, 5, 7, 9);
const path = fc.constantFrom('/t/Echo', '/t/Trust', '/t/Throw', '/t/Hang', '/t/Stream', '/t/None');
const bytes = fc.uint8Array({ maxLength: 60 });

/** Frames that make sense more often than not, so that they get somewhere. */
const likely = fc.oneof(
  fc.tuple(stream, path).map(([id, to]) => request(id, to)),
  fc.tuple(stream, path).map(([id, to]) => request(id, to, ['grpc-timeout', '5m'])),
  fc.tuple(stream, bytes, fc.boolean()).map(([id, content, isLast]) => data(id, framed(content), isLast)),
  fc.tuple(stream, bytes, fc.nat(100)).map(([id, content, declared]) => data(id, framed(content, declared))),
  fc.tuple(stream, fc.nat(200)).map(([id, increment]) => frame(frameType.windowUpdate, 0, id, word(increment))),
  fc.tuple(stream, fc.nat(13)).map(([id, code]) => frame(frameType.rstStream, 0, id, word(code))),
  fc.nat(40).map((size) => settingsFrame([[settingId.initialWindowSize, size]])),
  fc.constant(ping()),
);
const any = fc
  .tuple(fc.nat(11), fc.nat(255), stream, bytes)
  .map(([type, flags, id, payload]) => frame(type, flags, id, payload));

test('no frames whatsoever break the server, or another connection', async () => {
  const here = await testServer({ limits: { finishWithinMs: 300 } });
  const other = await here.client();
  let id = -1;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 9, arbitrary: likely }, { weight: 1, arbitrary: any }), { maxLength: 25 }),
      fc.nat(300),
      async (frames, cut) => {
        const client = await here.client(emptySettings);
        const all = Buffer.concat(frames);
        client.write(all.subarray(0, cut));
        client.write(all.subarray(cut));
        await client.settled();
        // A connection may end, but never by a fault of the server.
        if (client.frames.some(({ type }) => type === frameType.goAway)) {
          expect(await client.goAway()).not.toBe(errorCode.internalError);
        }
        client.destroy();
        id += 2;
        other.write(request(id), data(id, framed(Buffer.from('hello')), true));
        expect((await other.answer(id)).get('grpc-status')).toBe('0');
        other.frames.length = 0;
      },
    ),
    { numRuns: 400 },
  );
});
