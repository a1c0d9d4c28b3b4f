import { Readable } from 'node:stream';

/**
 * A stream of what a generator says, for a client that keeps on reading. One that takes nothing for so long that it has
 * probably forgotten to read is cut off: what works for it is needed by others.
 */
export function patientStream(texts: AsyncGenerator<string>, patienceMs: number, onClose: () => void): Readable {
  let takenAt = performance.now();
  async function* noted(): AsyncGenerator<string> {
    for await (const text of texts) {
      yield text;
      takenAt = performance.now();
    }
  }
  const stream = Readable.from(noted());
  const timer = setInterval(() => {
    if (performance.now() - takenAt > patienceMs) stream.destroy();
  }, patienceMs / 4);
  timer.unref();
  stream.once('close', () => {
    clearInterval(timer);
    onClose();
  });
  return stream;
}
