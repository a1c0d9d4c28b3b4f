import { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { ping } from '../testkit/raw-client.ts';
import { preface } from './frame.ts';
import type { FrameSink } from './frame-reader.ts';
import type { IntakeTurns } from './intake.ts';
import { Intake } from './intake.ts';
import { Outbox } from './outbox.ts';

/** A socket whose peer reads nothing. */
class Full extends Socket {
  override _write(): void {}
}

function fill(outbox: Outbox): void {
  for (let n = 0; n < 8; n++) outbox.put(Buffer.alloc(32 * 1024));
  outbox.flush();
}

const later = (goOn: () => void) => void setImmediate(goOn);
const turns: IntakeTurns = {
  read: (_isNew, _bytes, read) => read(0),
  rest: later,
  discard: (_bytes, goOn) => later(goOn),
};

class Counter implements FrameSink {
  frames = 0;
  mayReadOn = true;
  onFrame: () => void = () => undefined;

  dataBegins(): void {}
  dataPart(_bytes: Buffer, _start: number, end: number): number {
    return end;
  }
  dataEnds(): void {}

  frame(): void {
    this.frames++;
    this.onFrame();
  }
}

test('each drain shows that the peer reads, though more waits', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(100);
  const socket = new Full();
  const outbox = new Outbox(socket, () => {
    fill(outbox);
    intake.drained();
  });
  const intake = new Intake(socket, outbox, new Counter(), turns);
  fill(outbox);
  socket.emit('data', preface);
  expect(intake.blockedSince).toBe(100);
  now.mockReturnValue(500);
  socket.emit('drain');
  now.mockRestore();
  expect(intake.blockedSince).toBe(500);
});

test('a read is left where the peer is found not to read, and goes on from there', async () => {
  const socket = new Full();
  const outbox = new Outbox(socket, () => intake.drained());
  const sink = new Counter();
  sink.onFrame = () => {
    if (sink.frames === 3) {
      fill(outbox);
      sink.mayReadOn = false;
    }
  };
  const intake = new Intake(socket, outbox, sink, turns);
  socket.emit('data', Buffer.concat([preface, ...Array.from({ length: 10 }, () => ping())]));
  expect([sink.frames, socket.isPaused()]).toEqual([3, true]);
  sink.mayReadOn = true;
  socket.emit('drain');
  await vi.waitFor(() => expect([sink.frames, socket.isPaused()]).toEqual([10, false]));
});

test('what was left is not read once the connection is over', async () => {
  const socket = new Full();
  const sink = new Counter();
  sink.onFrame = () => {
    sink.mayReadOn = false;
  };
  const intake = new Intake(socket, new Outbox(socket, () => undefined), sink, turns);
  socket.emit('data', Buffer.concat([preface, ping(), ping()]));
  sink.mayReadOn = true;
  intake.stop();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(sink.frames).toBe(1);
});

test('what comes after the end is read little by little, and only so much of it', async () => {
  const socket = new Full();
  const intake = new Intake(socket, new Outbox(socket, () => undefined), new Counter(), turns);
  intake.stop();
  for (let read = 0; read < 16; read++) {
    socket.emit('data', Buffer.alloc(64 * 1024));
    expect(socket.isPaused()).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(socket.isPaused()).toBe(false);
  }
  expect(socket.destroyed).toBe(false);
  socket.emit('data', Buffer.alloc(1));
  expect(socket.destroyed).toBe(true);
});
