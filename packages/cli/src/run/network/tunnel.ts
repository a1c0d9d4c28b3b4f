import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Line } from './line.ts';

/** Joins a program to a server until both have ended, or one is cut. */
export async function joinTunnel(client: Socket, line: Line): Promise<void> {
  const gone = () => line.destroy();
  client.once('close', gone);
  if (client.destroyed) gone();
  line.serve(client);
  if (!line.closed) await once(line, 'close').catch(() => {});
  client.off('close', gone);
  if (line.readableEnded) client.destroySoon();
  // Half an answer must not look whole.
  else client.resetAndDestroy();
}

/** Fires when the program has left. */
export function departure(client: Socket): AbortSignal {
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  if (client.destroyed) gone.abort();
  return gone.signal;
}
