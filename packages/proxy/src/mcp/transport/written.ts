import type { Writable } from 'node:stream';

/** Writes, and resolves when the stream has room for more or is closed. */
export async function written(stream: Writable, text: string): Promise<void> {
  if (stream.destroyed || stream.writableEnded || stream.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      stream.off('error', done);
      resolve();
    };
    stream.once('drain', done);
    stream.once('close', done);
    stream.once('error', done);
  });
}
