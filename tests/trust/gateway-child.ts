import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithUs } from '../harness/end-with-us.ts';
import { bootstrapKey } from '../harness/gateway.ts';

export interface ChildOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** A program to run it under, such as `prlimit` with its options. */
  readonly under?: readonly string[];
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** A gateway process from its first moment, for tests that end it before it listens. */
export class GatewayChild {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #stdout = '';
  #stderr = '';

  constructor({ folder, env = {}, args = [], under = [] }: ChildOptions) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
    const serve = ['serve', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', folder, ...args];
    const [program = '', ...rest] = [...under, 'node_modules/.bin/reeve', ...serve];
    this.#child = spawn(program, rest, {
      env: { ...Object.fromEntries(inherited), SVC_BOOTSTRAP_API_KEY: bootstrapKey, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithUs(this.#child);
    this.#closed = once(this.#child, 'close');
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
  }

  get isListening(): boolean {
    return this.#stdout.includes('"listening"');
  }

  /** The base URL of HTTP. */
  get http(): string {
    return (JSON.parse(this.#stdout.split('\n')[0] ?? '') as { http: string }).http;
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until it listens. False if it ends instead, or takes too long. */
  async listens(mostMs = 60_000): Promise<boolean> {
    const until = performance.now() + mostMs;
    while (!this.isListening && !this.isOver && performance.now() < until) await sleep(5);
    return this.isListening;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits for its end. If it does not end in time, kills it and returns undefined. */
  async ended(mostMs: number): Promise<ChildEnd | undefined> {
    const timer = new AbortController();
    const inTime = await Promise.race([
      this.#closed.then(() => true),
      sleep(mostMs, false, { signal: timer.signal }).catch(() => false),
    ]);
    timer.abort();
    if (!inTime) {
      this.#child.kill('SIGKILL');
      await this.#closed;
      return undefined;
    }
    return { code: this.#child.exitCode, signal: this.#child.signalCode, stderr: this.#stderr };
  }
}
