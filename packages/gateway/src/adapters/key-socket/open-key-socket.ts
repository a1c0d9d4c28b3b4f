import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { messageOf } from '@reeve/core';
import type { BootstrapKey } from './socket-place.ts';
import { bootstrapCommand, keySocketIn, whyNotOurs } from './socket-place.ts';

const mostAtOnce = 4;
const longestMs = 10_000;

/**
 * Listens in the data folder for whoever has this machine and lost the admin key. Only the user of the gateway can
 * connect (0600, in a folder of 0700). It takes one command, which makes a key. Whoever calls this holds the lock of the
 * folder, so a socket that lies there is left over. Returns how to close it.
 */
export async function openKeySocket(folder: string, make: () => Promise<BootstrapKey>): Promise<() => Promise<void>> {
  const place = keySocketIn(folder);
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    answer(socket, make);
  });
  server.maxConnections = mostAtOnce;
  const close = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    place[Symbol.dispose]();
  };
  try {
    rmSync(place.path, { force: true });
    server.listen(place.path);
    await once(server, 'listening');
    chmodSync(place.path, 0o600);
    const why = whyNotOurs(folder);
    if (why !== undefined) throw new Error(why);
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}

/** Reads the command, no byte more, and answers with one line of JSON. However it goes, the connection ends soon. */
function answer(socket: Socket, make: () => Promise<BootstrapKey>): void {
  const deadline = setTimeout(() => socket.destroy(), longestMs);
  socket.once('close', () => clearTimeout(deadline));
  socket.on('error', () => undefined);
  const say = (told: object) => {
    socket.end(`${JSON.stringify(told)}\n`);
  };
  let asked = '';
  const read = (bytes: Buffer) => {
    asked += bytes.toString('latin1');
    if (asked !== bootstrapCommand && bootstrapCommand.startsWith(asked)) return;
    socket.off('data', read);
    // What else comes is thrown away, so that the end of the connection is seen.
    socket.resume();
    if (asked === bootstrapCommand) make().then(say, (error: unknown) => say({ error: messageOf(error) }));
    else say({ error: 'this socket takes one command: keys bootstrap' });
  };
  socket.on('data', read);
}
