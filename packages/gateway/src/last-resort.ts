import type { Logger } from './telemetry/logger.ts';

/** How long stopping may take beyond the time for calls in flight. */
const closingMs = 15_000;
/** How long the process may linger once all is closed. */
const lingerMs = 5_000;

/**
 * Waits for `stop`, and ends the process if that hangs. Otherwise the sender of SIGTERM would wait, and then kill it
 * without a message. What was acknowledged is durable by then.
 */
export async function stopOrExit(
  gateway: { readonly closing: string; stop(): Promise<void> },
  drainMs: number,
  logger: Logger,
  exit: (code: number) => void = process.exit,
): Promise<void> {
  const timer = setTimeout(() => {
    logger.fatal({ hung: gateway.closing }, 'the gateway does not stop; the process ends');
    exit(1);
  }, drainMs + closingMs);
  try {
    await gateway.stop();
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Everything is closed, so the process should end by itself. If something keeps it alive, it is ended with a warning.
 */
export function exitAfterLinger(exitCode: number, logger: Logger): void {
  setTimeout(() => {
    const hung = process.getActiveResourcesInfo();
    logger.warn({ hung }, 'something is open still after all was closed; the process ends');
    process.exit(exitCode);
  }, lingerMs).unref();
}
