import type { IncomingMessage } from 'node:http';

/** More than this is left in the connection, so that the sender waits. */
const mostQueued = 64 * 1024;

/**
 * Takes the bytes of a message in turn, more of them once those before are done. Rejects if the message breaks off, or with
 * what `take` throws; from then on it takes nothing more. Takes a fraction of the time of an async iterator.
 */
export function eachChunk(message: IncomingMessage, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let queue: Buffer[] = [];
  let [queued, isTaking, isEnded, isOver] = [0, false, false, false];
  const fail = (error: unknown) => {
    isOver = true;
    message.destroy();
    reject(error);
  };
  const takeAll = async () => {
    isTaking = true;
    while (queued > 0) {
      if (isOver) return;
      const [first] = queue;
      const chunk = queue.length === 1 && first !== undefined ? first : Buffer.concat(queue);
      [queue, queued] = [[], 0];
      await take(chunk);
      if (message.isPaused()) message.resume();
    }
    isTaking = false;
    // What came with its end is over now. The event of that comes a turn later.
    if (isEnded || (message.complete && message.readableLength === 0)) resolve();
  };
  const brokeOff = () => {
    if (!isEnded) fail(new Error('the message broke off'));
  };
  message.once('end', () => {
    isEnded = true;
    if (!isTaking) resolve();
  });
  message.once('error', fail);
  message.once('close', brokeOff);
  if (message.destroyed) brokeOff();
  message.on('data', (chunk: Buffer) => {
    queue.push(chunk);
    queued += chunk.length;
    if (queued > mostQueued) message.pause();
    if (!isTaking && !isOver) takeAll().catch(fail);
  });
  return promise;
}
