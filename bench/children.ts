import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** Starts a process that does not outlive this one. */
export function spawnTracked(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  stdio: StdioOptions,
): ChildProcess {
  const [program = '', ...args] = command;
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_OPTIONS');
  const child = spawn(program, args, { env: { ...Object.fromEntries(inherited), ...env }, stdio });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Makes sure that a temporary folder is removed, at the latest when this process ends. */
export function trackFolder(folder: string): () => void {
  folders.add(folder);
  return () => {
    rmSync(folder, { recursive: true, force: true });
    folders.delete(folder);
  };
}

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
