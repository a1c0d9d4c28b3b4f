import { Readable } from 'node:stream';

/** How long a client may take nothing of an answer. */
export const patienceMs = 30_000;

/**
 * A stream of a generator's texts or bytes, for a client that keeps reading. A client that takes nothing for too long is cut
 * off, because others need its resources.
 */
export function patientStream(texts: AsyncIterable<string | Buffer>, mostMs: number, onClose: () => void): Readable {
  let takenAt = performance.now();
  async function* noted(): AsyncGenerator<string | Buffer> {
    for await (const text of texts) {
      yield text;
      takenAt = performance.now();
    }
  }
  const stream = Readable.from(noted());
  const timer = setInterval(() => {
    if (performance.now() - takenAt > mostMs) stream.destroy();
  }, mostMs / 4);
  timer.unref();
  stream.once('close', () => {
    clearInterval(timer);
    onClose();
  });
  return stream;
}
