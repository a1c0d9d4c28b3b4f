import type { ServerResponse } from 'node:http';

/** Resolves when the client has taken all that was sent, or is gone. Until then it stays in memory. */
export async function untilTaken(response: ServerResponse): Promise<void> {
  if (!response.writableEnded || response.writableFinished || response.destroyed) return;
  await new Promise<void>((resolve) => response.once('finish', resolve).once('close', resolve));
}
