import { MalformedEvent } from './hook-event.ts';

const { readSync } = process.getBuiltinModule('node:fs');

const mostBytes = 16 * 1024 * 1024;
const chunkBytes = 65_536;
const pauseMs = 5;

/** All of standard input. Reading it directly takes less time than opening a stream. */
export function readInput(): string {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = readChunk();
    if (chunk === undefined) return Buffer.concat(chunks).toString('utf8');
    size += chunk.byteLength;
    if (size > mostBytes) throw new MalformedEvent(`the event on standard input is longer than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
}

function readChunk(): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    try {
      const count = readSync(0, buffer);
      return count === 0 ? undefined : buffer.subarray(0, count);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EOF') return undefined;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}
