import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownCommand } from '../../own-command.ts';

/** Where the processes of the doors run. Nothing of the user's own settings reaches them. */
export interface DoorPlace {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

const patienceMs = 5000;
const mostStderr = 4096;

/**
 * A process of this command that lasts until its input ends. It is in a group of its own, so that Ctrl-C reaches only the
 * demo; and if the demo is killed, the input ends with it.
 */
export class DoorProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #stderr = '';

  constructor(args: readonly string[], { folder, env }: DoorPlace) {
    const [program, ...words] = ownCommand();
    const child = spawn(program, [...words, ...args], { cwd: folder, env, detached: true, stdio: 'pipe' });
    this.#child = child;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    // Its end says more than a pipe that breaks.
    child.stdin.on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => (this.#stderr = (this.#stderr + chunk.toString()).slice(-mostStderr)));
    this.#closed = once(child, 'close').catch(() => undefined);
  }

  /** Throws once the process has ended. */
  async failed(): Promise<never> {
    await this.#closed;
    throw new Error(this.#stderr.trim().split('\n').at(-1) ?? '');
  }

  async end(): Promise<void> {
    this.stdin.end();
    const patience = new AbortController();
    const late = sleep(patienceMs, undefined, { signal: patience.signal }).then(
      () => this.#child.kill('SIGKILL'),
      () => undefined,
    );
    await this.#closed;
    patience.abort();
    await late;
  }
}

/** Runs this command once with an input, and returns what it writes. Empty if the signal ended it. */
export async function runOnce(
  args: readonly string[],
  input: string,
  { folder, env }: DoorPlace,
  signal: AbortSignal,
): Promise<string> {
  const [program, ...words] = ownCommand();
  const child = spawn(program, [...words, ...args], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    signal,
  });
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  const closed = once(child, 'close').catch(() => undefined);
  child.stdin.end(input);
  const [output] = await Promise.all([text(child.stdout), closed]);
  return output;
}
