import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { careFor } from '../../../packages/grpc-server/src/connection-care.ts';
import { Connection } from '../../../packages/grpc-server/src/connection.ts';
import type { Shared } from '../../../packages/grpc-server/src/calls/shared.ts';
import type { StreamHandler, UnaryHandler } from '../../../packages/grpc-server/src/handlers.ts';
import { errorCode, frameHeaderBytes, frameType } from '../../../packages/grpc-server/src/http2/frame.ts';
import { defaultLimits } from '../../../packages/grpc-server/src/limits.ts';
import { DeadlineWheel } from '../../../packages/grpc-server/src/limits/deadline-wheel.ts';
import { TurnOrder } from '../../../packages/grpc-server/src/limits/turn-order.ts';
import { roomsOf } from '../../../packages/grpc-server/src/limits/rooms.ts';
import { MessageRoom } from '../../../packages/grpc-server/src/limits/message-room.ts';
import type { Random } from './frame-mutator.ts';
import { mutatedFrames, randomOf } from './frame-mutator.ts';
import { LocalSocket } from './local-socket.ts';

const sequences = Number(process.env['REEVE_FUZZ_SEQUENCES'] ?? 5000);
const firstSeed = Number(process.env['REEVE_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
const atOnce = 100;
const long = 24 * 3600 * 1000;

class HandlerFault extends Error {}

const large = Buffer.alloc(100_000);
const echo: UnaryHandler = (message, call) => call.answer(message);
const stream: StreamHandler = (call) => ({
  message: (bytes) => void call.send(Buffer.from(bytes)),
  ended: () => call.end(),
  closed: () => undefined,
});
const limits = { ...defaultLimits, finishWithinMs: 2, smallMessageBytes: 1024, largeInConnection: 60_000 };
const faults: unknown[] = [];
const shared: Shared = {
  limits,
  room: new MessageRoom({ ...limits, largeOfStrangers: 200_000 }),
  rooms: roomsOf(limits),
  wheel: new DeadlineWheel(),
  order: new TurnOrder(),
  statusOf: (error) => {
    if (!(error instanceof HandlerFault)) faults.push(error);
    return { code: 2, message: 'a fault' };
  },
  routes: {
    unary: new Map<string, UnaryHandler>([
      ['/t/Echo', echo],
      ['/t/Trust', (message, call) => (call.trust(), echo(message, call))],
      [
        '/t/Throw',
        () => {
          throw new HandlerFault();
        },
      ],
      ['/t/Hang', () => undefined],
    ]),
    stream: new Map<string, StreamHandler>([
      ['/t/Stream', stream],
      ['/t/Push', (call) => (call.send(large), stream(call))],
      [
        '/t/Pause',
        (call) => {
          call.pause();
          setImmediate(() => call.resume());
          return stream(call);
        },
      ],
    ]),
  },
};

afterAll(() => shared.wheel.stop());

interface Run {
  readonly seed: number;
  readonly socket: LocalSocket;
  readonly connection: Connection;
}

function begin(seed: number): Run {
  const random = randomOf(seed);
  const socket = new LocalSocket(() => random(10) > 0);
  const connection = new Connection(socket, shared, () => undefined);
  receive(socket, mutatedFrames(random), random);
  return { seed, socket, connection };
}

function receive(socket: LocalSocket, bytes: Buffer, random: Random): void {
  const cut = random(3) === 0 ? random(bytes.length) : bytes.length;
  socket.receive(bytes.subarray(0, cut));
  if (cut < bytes.length) socket.receive(bytes.subarray(cut));
}

/** All that was sent is whole frames, and none says that the server is at fault. */
function checkSent({ seed, socket }: Run): void {
  const bytes = Buffer.concat(socket.sent);
  let at = 0;
  while (at < bytes.length) {
    const next = at + frameHeaderBytes + bytes.readUIntBE(at, 3);
    if (bytes[at + 3] === frameType.goAway) {
      expect(bytes.readUInt32BE(at + frameHeaderBytes + 4), `seed ${seed}`).not.toBe(errorCode.internalError);
    }
    at = next;
  }
  expect(at, `seed ${seed}`).toBe(bytes.length);
}

/** Whatever a connection held is released once it is gone. */
function checkReleased({ seed, connection }: Run): void {
  const { calls, held, stalled, waiting, sender } = connection.streams;
  const left = { calls: calls.size, held, stalled, waiting: waiting.size, kept: sender.keptBytes };
  expect(left, `seed ${seed}`).toEqual({ calls: 0, held: 0, stalled: 0, waiting: 0, kept: 0 });
}

test(
  `mutated frames break nothing and leave nothing, from seed ${firstSeed}`,
  async () => {
    for (let seed = firstSeed; seed < firstSeed + sequences; seed += atOnce) {
      const runs = Array.from({ length: atOnce }, (_, index) => begin(seed + index));
      await turn();
      for (const { connection } of runs) careFor(connection, limits, performance.now());
      await turn();
      for (const run of runs) run.connection.destroy();
      await turn();
      for (const run of runs) {
        checkSent(run);
        checkReleased(run);
      }
      expect(shared.rooms.unsent.held, `seeds from ${seed}`).toBe(0);
      expect(faults, `seeds from ${seed}`).toEqual([]);
    }
  },
  long,
);
