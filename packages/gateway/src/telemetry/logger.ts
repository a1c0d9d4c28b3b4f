import type { Logger } from 'pino';
import pino from 'pino';

export type { Logger } from 'pino';

/**
 * Logs on stderr: JSON, or readable if stderr is a terminal. It writes synchronously, so that a crash loses no line.
 */
export async function createLogger(level: string): Promise<Logger> {
  const destination = process.stderr.isTTY
    ? (await import('pino-pretty')).default({
        destination: 2,
        sync: true,
        ignore: 'pid,hostname',
        translateTime: 'HH:MM:ss',
      })
    : pino.destination({ dest: 2, sync: true });
  // A log that cannot be written, for example on a full disk, must not end the process.
  destination.on('error', () => undefined);
  return pino({ level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
