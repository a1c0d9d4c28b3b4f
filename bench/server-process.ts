import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { spawnTracked } from './children.ts';
import { onCore } from './cores.ts';

/** A server under test that has reported its address. */
export interface ServerProcess {
  readonly pid: number;
  readonly grpc: string;
  /** Empty if it does not speak HTTP. */
  readonly http: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

const stopWithinMs = 20_000;

export async function startServer(
  core: number | undefined,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawnTracked(onCore(core, command), env, ['ignore', 'pipe', 'pipe', 'ipc']);
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-4000);
  });
  if (child.stdout === null || child.pid === undefined) throw new Error(`cannot start ${command.join(' ')}`);
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    once(child, 'close').then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`${command.join(' ')} did not start: ${complaints}`);
  const { grpc, http = '' } = JSON.parse(line) as { grpc: string; http?: string };
  return { pid: child.pid, grpc, http, child, stop: () => stopServer(child) };
}

export async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(force);
}
