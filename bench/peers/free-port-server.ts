import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { spawnTracked } from '../children.ts';
import { onCore } from '../cores.ts';
import { pause } from '../process-usage.ts';
import type { ServerProcess } from '../server-process.ts';
import { stopServer } from '../server-process.ts';

const startWithinMs = 30_000;

/** Starts a server that takes its port from the command line and does not say when it listens. It may log to a file. */
export async function startOnFreePort(
  core: number | undefined,
  command: (port: number, other: number) => readonly string[],
  log?: string,
): Promise<ServerProcess> {
  const [port, other] = [await freePort(), await freePort()];
  const errors = log === undefined ? 'pipe' : openSync(log, 'a');
  const child = spawnTracked(onCore(core, command(port, other)), {}, ['ignore', 'ignore', errors]);
  if (typeof errors === 'number') closeSync(errors);
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-2000);
  });
  const deadline = performance.now() + startWithinMs;
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`did not start: ${complaints}`);
    await pause(0.1);
  }
  return { pid: child.pid ?? 0, grpc: `127.0.0.1:${port}`, http: '', child, stop: () => stopServer(child) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
