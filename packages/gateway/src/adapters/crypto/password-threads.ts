import type { Worker } from 'node:worker_threads';
import { startThread } from '../system/start-thread.ts';
import { ReeveError } from '@reeve/core';
import type { HashAnswer, HashJob } from './password-worker.ts';

export interface PasswordThreadsOptions {
  /** The most threads at once. */
  readonly threads: number;
  /** The most passwords that may wait for a thread. */
  readonly waiting: number;
  readonly idleMs: number;
  /** Gets the reason why a password could not be hashed, never the password. */
  readonly onFault: (why: string) => void;
}

interface Task {
  readonly job: HashJob;
  readonly resolve: (tag: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  task: Task | undefined;
  /** Ends the thread after a long enough idle time. */
  idle: NodeJS.Timeout | undefined;
}

/**
 * Threads that hash, each one password at a time. They start when there is work and end when they are idle. A thread
 * that dies fails its own password; waiting passwords go to another thread.
 */
export class PasswordThreads {
  readonly #options: PasswordThreadsOptions;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Task[] = [];
  #closed = false;

  constructor(options: PasswordThreadsOptions) {
    this.#options = options;
  }

  /** How many threads run now. */
  get size(): number {
    return this.#threads.size;
  }

  run(job: HashJob): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw stopping();
      if (this.#waiting.length >= this.#options.waiting) {
        throw new ReeveError('overloaded', 'too many passwords wait to be checked; try again', { retry_after_secs: 5 });
      }
      this.#waiting.push({ job, resolve, reject });
      this.#assign();
    });
  }

  /** Fails all unfinished work. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = [...this.#threads];
    this.#threads.clear();
    const unfinished = [...threads.flatMap(({ task }) => task ?? []), ...this.#waiting.splice(0)];
    for (const { reject } of unfinished) reject(stopping());
    for (const { idle } of threads) clearTimeout(idle);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#freeThread();
      const task = thread === undefined ? undefined : this.#waiting.shift();
      if (thread === undefined || task === undefined) return;
      clearTimeout(thread.idle);
      thread.task = task;
      thread.worker.ref();
      thread.worker.postMessage(task.job);
    }
  }

  #freeThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.task === undefined) return thread;
    return this.#threads.size < this.#options.threads ? this.#start() : undefined;
  }

  #start(): Thread {
    const worker = startThread(new URL('password-worker.ts', import.meta.url), {}, { name: 'passwords' });
    const thread: Thread = { worker, task: undefined, idle: undefined };
    worker.on('message', (answer: HashAnswer) => this.#answered(thread, answer));
    worker.on('error', (error) => this.#lost(thread, error.message));
    worker.on('exit', () => this.#lost(thread, 'the thread has ended'));
    this.#threads.add(thread);
    return thread;
  }

  #answered(thread: Thread, answer: HashAnswer): void {
    const { task } = thread;
    thread.task = undefined;
    if ('tag' in answer) task?.resolve(answer.tag);
    else task?.reject(this.#fault(answer.error));
    this.#assign();
    if (thread.task !== undefined || !this.#threads.has(thread)) return;
    thread.worker.unref();
    thread.idle = setTimeout(() => this.#end(thread), this.#options.idleMs).unref();
  }

  #end(thread: Thread): void {
    this.#threads.delete(thread);
    void thread.worker.terminate();
  }

  #lost(thread: Thread, why: string): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.idle);
    thread.task?.reject(this.#fault(why));
    this.#assign();
  }

  #fault(why: string): ReeveError {
    this.#options.onFault(why);
    return new ReeveError('overloaded', 'the password cannot be checked now; try again', { retry_after_secs: 1 });
  }
}

function stopping(): ReeveError {
  return new ReeveError('shutting_down', 'the gateway is being stopped');
}
