import { Readable } from 'node:stream';

/** For how long a client may take nothing of an answer. */
export const patienceMs = 30_000;

/**
 * A stream of what a generator says, for a client that keeps on reading. One that takes nothing for so long that it has
 * probably forgotten to read is cut off: what works for it is needed by others.
 */
export function patientStream(texts: AsyncGenerator<string>, mostMs: number, onClose: () => void): Readable {
  let takenAt = performance.now();
  async function* noted(): AsyncGenerator<string> {
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
