import type { Worker } from 'node:worker_threads';
import type { Governance } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import { startThread } from '../system/start-thread.ts';
import type { EvaluationJobs, JobKind } from './evaluation-jobs.ts';
import type { ThreadAnswer, ThreadCall } from './evaluation-worker.ts';
import { PolicyCourier } from './policy-courier.ts';
import type { EvaluationSettings } from './thread-world.ts';

export interface EvaluationThreadsOptions {
  /** How many there are at most. */
  readonly threads: number;
  /** How long a job may take, in milliseconds. */
  readonly deadlineMs: number;
  readonly idleMs: number;
  /** Told of every job that was ended, and why. */
  readonly onEnded: (why: 'deadline' | 'memory' | 'crash') => void;
}

/** A job that waits for a thread, or is done in one. */
interface Task {
  readonly tenant: string;
  readonly kind: JobKind;
  /** Made when its turn comes, so that it sees what is true then. */
  readonly input: () => EvaluationJobs[JobKind]['in'];
  /** What the gateway itself needs is waited for. */
  readonly hasDeadline: boolean;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly courier: PolicyCourier;
  task: Task | undefined;
  deadline: NodeJS.Timeout | undefined;
  idle: NodeJS.Timeout | undefined;
}

const memoryMb = 512;

/**
 * Threads that evaluate, one job at a time each. They are started when there is work and ended when there has been none
 * for a while. One that takes too long for its job is ended together with it, and another takes its place.
 */
export class EvaluationThreads {
  readonly #gov: Governance;
  readonly #options: EvaluationThreadsOptions;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Task[] = [];
  #closed = false;

  constructor(gov: Governance, options: EvaluationThreadsOptions) {
    this.#gov = gov;
    this.#options = options;
  }

  run(task: Omit<Task, 'resolve' | 'reject'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw stopping();
      this.#waiting.push({ ...task, resolve, reject });
      this.#assign();
    });
  }

  /** Fails whatever is not done. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = [...this.#threads];
    this.#threads.clear();
    const unfinished = [...threads.flatMap(({ task }) => task ?? []), ...this.#waiting.splice(0)];
    for (const { reject } of unfinished) reject(stopping());
    await Promise.all(threads.map((thread) => end(thread)));
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      const [task] = this.#waiting.splice(this.#nextTask(), 1);
      thread.task = task;
      clearTimeout(thread.idle);
      thread.worker.ref();
      this.#goOn(thread);
    }
  }

  /** Of those who wait, the first whose tenant has nothing in a thread; else the first. */
  #nextTask(): number {
    const busy = new Set([...this.#threads].map(({ task }) => task?.tenant));
    return Math.max(
      0,
      this.#waiting.findIndex(({ tenant }) => !busy.has(tenant)),
    );
  }

  #freeThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.task === undefined) return thread;
    return this.#threads.size < this.#options.threads ? this.#start() : undefined;
  }

  /** Tells the thread what has changed, then gives it its job. The time for the job begins when it knows all it needs. */
  #goOn(thread: Thread): void {
    const { task, courier } = thread;
    if (task === undefined) return;
    if (!courier.isUpToDate) {
      post(thread, { type: 'learn', news: courier.next() });
      return;
    }
    try {
      if (task.hasDeadline) {
        thread.deadline = setTimeout(() => this.#lose(thread, 'deadline'), this.#options.deadlineMs);
      }
      post(thread, { type: 'job', kind: task.kind, input: task.input() });
    } catch (error) {
      this.#settle(thread, () => task.reject(error instanceof RangeError ? tooExpensive(this.#options) : error));
    }
  }

  #start(): Thread {
    const { mostActionMicros, approvals } = this.#gov;
    const settings: EvaluationSettings = { mostActionMicros, ttlMs: approvals.settings.ttlMs };
    const worker = startThread(new URL('evaluation-worker.ts', import.meta.url), settings, {
      name: 'evaluation',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const courier = new PolicyCourier(this.#gov);
    const thread: Thread = { worker, courier, task: undefined, deadline: undefined, idle: undefined };
    worker.on('message', (answer: ThreadAnswer) => this.#answered(thread, answer));
    worker.on('error', (error) => this.#lose(thread, isMemory(error) ? 'memory' : 'crash'));
    worker.on('exit', () => this.#lose(thread, 'crash'));
    this.#threads.add(thread);
    return thread;
  }

  #answered(thread: Thread, answer: ThreadAnswer): void {
    const { task } = thread;
    switch (answer.type) {
      case 'learned':
        return this.#goOn(thread);
      case 'done':
        return this.#settle(thread, () => task?.resolve(answer.output));
      case 'refused':
        return this.#settle(thread, () => task?.reject(new ReeveError(answer.code, answer.message, answer.facts)));
      case 'failed':
        if (!answer.exhausted) return this.#settle(thread, () => task?.reject(new Error(answer.message)));
        this.#options.onEnded('memory');
        return this.#settle(thread, () => task?.reject(tooExpensive(this.#options)));
    }
  }

  #settle(thread: Thread, answer: () => void): void {
    clearTimeout(thread.deadline);
    thread.task = undefined;
    answer();
    this.#assign();
    if (thread.task !== undefined || !this.#threads.has(thread)) return;
    thread.worker.unref();
    thread.idle = setTimeout(() => {
      this.#threads.delete(thread);
      void end(thread);
    }, this.#options.idleMs).unref();
  }

  /** The thread is given up, and with it the job that it had. */
  #lose(thread: Thread, why: 'deadline' | 'memory' | 'crash'): void {
    if (!this.#threads.delete(thread)) return;
    const { task } = thread;
    void end(thread);
    if (task !== undefined) {
      this.#options.onEnded(why);
      task.reject(why === 'crash' ? crashed() : tooExpensive(this.#options));
    }
    this.#assign();
  }
}

function post({ worker }: Thread, call: ThreadCall): void {
  worker.postMessage(call);
}

async function end({ worker, deadline, idle }: Thread): Promise<void> {
  clearTimeout(deadline);
  clearTimeout(idle);
  try {
    await worker.terminate();
  } catch {
    // It has ended already.
  }
}

function isMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooExpensive({ deadlineMs }: EvaluationThreadsOptions): ReeveError {
  const seconds = deadlineMs / 1000;
  return new ReeveError(
    'too_expensive',
    `evaluating this takes more than it may (${seconds} s, ${memoryMb} MB); send less, or simpler conditions`,
  );
}

function crashed(): ReeveError {
  return new ReeveError('overloaded', 'the thread that evaluates policies has ended; try again', {
    retry_after_secs: 1,
  });
}

function stopping(): ReeveError {
  return new ReeveError('shutting_down', 'the gateway is being stopped');
}
