import { Readable } from 'node:stream';
import { defaultLimits } from '@reeve/grpc-server';

/** How long a client may take nothing of an answer: as long as over gRPC. */
export const patienceMs = defaultLimits.takeWithinMs;

/**
 * A stream of a generator's texts or bytes, for a client that keeps reading. A client that takes nothing for too long is cut
 * off, because others need its resources. So is one that takes less than `leastPerSec` on average, in bytes or characters:
 * it would hold them by reading a little now and then.
 */
export function patientStream(
  texts: AsyncIterable<string | Buffer>,
  mostMs: number,
  onClose: () => void,
  leastPerSec = 0,
): Readable {
  const startedAt = performance.now();
  let takenAt = startedAt;
  let taken = 0;
  async function* noted(): AsyncGenerator<string | Buffer> {
    for await (const text of texts) {
      yield text;
      takenAt = performance.now();
      taken += text.length;
    }
  }
  const stream = Readable.from(noted());
  const timer = setInterval(() => {
    const now = performance.now();
    const owedMs = leastPerSec === 0 ? Infinity : mostMs + (1000 * taken) / leastPerSec;
    if (now - takenAt > mostMs || now - startedAt > owedMs) stream.destroy();
  }, mostMs / 4);
  timer.unref();
  stream.once('close', () => {
    clearInterval(timer);
    onClose();
  });
  return stream;
}
