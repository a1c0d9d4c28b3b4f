import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { patientStream } from './patient-stream.ts';

async function* endless(): AsyncGenerator<string> {
  for (let line = 0; ; line++) {
    await delay(1);
    yield `${line}\n`;
  }
}

test('who does not read is cut off, and what worked for it is ended', async () => {
  let closed = 0;
  const stream = patientStream(endless(), 100, () => closed++);
  stream.pause();
  await once(stream, 'close');
  expect(stream.destroyed).toBe(true);
  expect(closed).toBe(1);
});

test('who reads is not, however long it takes', async () => {
  let closed = 0;
  const stream = patientStream(endless(), 100, () => closed++);
  let read = 0;
  const end = performance.now() + 600;
  for await (const _ of stream) {
    read++;
    if (performance.now() > end) break;
  }
  expect(read).toBeGreaterThan(20);
  await expect.poll(() => closed).toBe(1);
});

test('who reads too little on average is cut off, although it never stops', async () => {
  let closed = 0;
  const stream = patientStream(endless(), 100, () => closed++, 1_000_000);
  let read = 0;
  stream.on('data', () => read++);
  await once(stream, 'close');
  expect(read).toBeGreaterThan(0);
  expect(closed).toBe(1);
});

test('what ends by itself is closed', async () => {
  async function* short(): AsyncGenerator<string> {
    yield await Promise.resolve('a');
  }
  let closed = 0;
  const stream = patientStream(short(), 10_000, () => closed++);
  expect(await stream.toArray()).toEqual(['a']);
  await expect.poll(() => closed).toBe(1);
});
