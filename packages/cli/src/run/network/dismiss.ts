import type { Socket } from 'node:net';

const lastMs = 2000;

/**
 * Sends a client the last bytes, and lets it go. What it still sends is read and thrown away: unread, it would keep the
 * connection open after the client has left. A client that does not leave is cut.
 */
export function dismiss(client: Socket, bytes: Buffer): void {
  client.end(bytes);
  client.resume();
  const timer = setTimeout(() => client.destroy(), lastMs).unref();
  client.once('close', () => clearTimeout(timer));
}
