import type { Worker } from 'node:worker_threads';
import type { Decisions } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import { startThread } from '../system/start-thread.ts';
import { CpuDeadline } from './cpu-deadline.ts';
import type { EvaluationJobs, JobKind } from './evaluation-jobs.ts';
import type { ThreadAnswer, ThreadCall } from './evaluation-worker.ts';
import { PolicyTransfer } from './policy-transfer.ts';
import type { EvaluationSettings } from './thread-world.ts';
import { WaitingJobs } from './waiting-jobs.ts';

export interface EvaluationThreadsOptions {
  /** The most threads at once. */
  readonly threads: number;
  /** How long a job may compute, in milliseconds. */
  readonly deadlineMs: number;
  readonly idleMs: number;
  /** Called for every job that was ended, with the reason. */
  readonly onEnded: (why: 'deadline' | 'memory' | 'crash') => void;
}

/** A job that waits for a thread or runs in one. */
interface Task {
  /** The org that the job is for; null for the operator or the gateway itself. */
  readonly tenant: string | null;
  /** The orgs whose documents the job needs beside the global ones; null if it needs no policies in force. */
  readonly orgs: readonly string[] | null;
  readonly kind: JobKind;
  /** Made when the job starts, so that it sees the current state. */
  readonly input: () => EvaluationJobs[JobKind]['in'];
  /** False for jobs of the gateway itself, which may take as long as they need. */
  readonly hasDeadline: boolean;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly transfer: PolicyTransfer;
  /** The thread has loaded its code. On a busy machine that may take longer than a job may. */
  isReady: boolean;
  task: Task | undefined;
  /** The thread reads policies in force before its job. */
  isLearning: boolean;
  deadline: CpuDeadline | undefined;
  idle: NodeJS.Timeout | undefined;
}

const memoryMb = 512;
/** Multiples of the deadline: for reading what one org has stored, and for waiting while others read and evaluate. */
const learnTimes = 2;
const waitTimes = 3;
/** Threads take a moment to start, even if the deadline is short. */
const leastWaitMs = 10_000;

/**
 * Threads that evaluate, each one job at a time. They start when there is work and end when they are idle. A thread
 * that takes too long is ended together with its job, and another takes its place.
 */
export class EvaluationThreads {
  readonly #gov: Decisions;
  readonly #options: EvaluationThreadsOptions;
  readonly #threads = new Set<Thread>();
  readonly #waiting = new WaitingJobs<Task>();
  #closed = false;

  constructor(gov: Decisions, options: EvaluationThreadsOptions) {
    this.#gov = gov;
    this.#options = options;
  }

  run(task: Omit<Task, 'resolve' | 'reject'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw stopping();
      const waitMs = Math.max(leastWaitMs, waitTimes * this.#options.deadlineMs);
      this.#waiting.add({ ...task, resolve, reject }, waitMs, () => reject(busy()));
      this.#assign();
    });
  }

  /** Fails all unfinished work. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = [...this.#threads];
    this.#threads.clear();
    const unfinished = [...threads.flatMap(({ task }) => task ?? []), ...this.#waiting.takeAll()];
    for (const { reject } of unfinished) reject(stopping());
    await Promise.all(threads.map((thread) => end(thread)));
  }

  #assign(): void {
    while (this.#waiting.size > 0) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      const task = this.#waiting.take();
      thread.task = task;
      clearTimeout(thread.idle);
      thread.worker.ref();
      post(thread, { type: 'serve', tenant: task?.tenant ?? '' });
      this.#goOn(thread);
    }
  }

  #freeThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.task === undefined) return thread;
    return this.#threads.size < this.#options.threads ? this.#start() : undefined;
  }

  /** Sends the thread what has changed, then its job. The job's deadline starts once the thread knows all it needs. */
  #goOn(thread: Thread): void {
    const { task } = thread;
    if (task === undefined || !thread.isReady || this.#teach(thread, task)) return;
    thread.deadline?.clear();
    thread.isLearning = false;
    try {
      if (task.hasDeadline) thread.deadline = this.#deadline(thread, this.#options.deadlineMs);
      post(thread, { type: 'job', kind: task.kind, input: task.input() });
    } catch (error) {
      this.#settle(thread, () => task.reject(error instanceof RangeError ? tooExpensive(this.#options) : error));
    }
  }

  /**
   * Sends what the thread must learn first; false if there is nothing. Reading what tenants have stored has a deadline.
   */
  #teach(thread: Thread, { orgs, hasDeadline }: Task): boolean {
    const message = orgs === null ? undefined : thread.transfer.next(orgs);
    if (message === undefined || orgs === null) return false;
    if (message.ofOrgs && hasDeadline) {
      const ms = learnTimes * this.#options.deadlineMs * Math.max(1, orgs.length);
      thread.deadline ??= this.#deadline(thread, ms);
    }
    thread.isLearning = true;
    post(thread, { type: 'learn', news: message.news });
    return true;
  }

  #deadline(thread: Thread, ms: number): CpuDeadline {
    return new CpuDeadline(thread.worker, ms, () => this.#lose(thread, 'deadline'));
  }

  #start(): Thread {
    const { mostActionMicros, approvals } = this.#gov;
    const settings: EvaluationSettings = { mostActionMicros, ttlMs: approvals.settings.ttlMs };
    const worker = startThread(new URL('evaluation-worker.ts', import.meta.url), settings, {
      name: 'evaluation',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const transfer = new PolicyTransfer(this.#gov);
    const thread: Thread = {
      worker,
      transfer,
      isReady: false,
      task: undefined,
      isLearning: false,
      deadline: undefined,
      idle: undefined,
    };
    worker.on('message', (answer: ThreadAnswer) => this.#answered(thread, answer));
    worker.on('error', (error) => this.#lose(thread, isMemory(error) ? 'memory' : 'crash'));
    worker.on('exit', () => this.#lose(thread, 'crash'));
    this.#threads.add(thread);
    return thread;
  }

  #answered(thread: Thread, answer: ThreadAnswer): void {
    const { task } = thread;
    switch (answer.type) {
      case 'ready':
        thread.isReady = true;
        return this.#goOn(thread);
      case 'learned':
        return this.#goOn(thread);
      case 'done':
        return this.#settle(thread, () => task?.resolve(answer.output));
      case 'refused':
        return this.#settle(thread, () => task?.reject(new ReeveError(answer.code, answer.message, answer.facts)));
      case 'failed':
        if (thread.isLearning) return this.#lose(thread, 'crash');
        if (!answer.exhausted) return this.#settle(thread, () => task?.reject(new Error(answer.message)));
        this.#options.onEnded('memory');
        return this.#settle(thread, () => task?.reject(tooExpensive(this.#options)));
    }
  }

  #settle(thread: Thread, answer: () => void): void {
    thread.deadline?.clear();
    thread.deadline = undefined;
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

  /** Gives up the thread together with its job. */
  #lose(thread: Thread, why: 'deadline' | 'memory' | 'crash'): void {
    if (!this.#threads.delete(thread)) return;
    const { task, isLearning } = thread;
    void end(thread);
    if (task !== undefined) {
      this.#options.onEnded(why);
      // The thread was reading policies in force, not what the caller sent.
      if (isLearning) task.reject(notLearned());
      else task.reject(why === 'crash' ? crashed() : tooExpensive(this.#options));
    }
    this.#assign();
  }
}

function post({ worker }: Thread, call: ThreadCall): void {
  worker.postMessage(call);
}

async function end({ worker, deadline, idle }: Thread): Promise<void> {
  deadline?.clear();
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
  return overloaded('the thread that evaluates policies has ended; try again');
}

function notLearned(): ReeveError {
  return overloaded(
    'the documents in force take more time or memory to read than there is for it; try again, or delete some',
  );
}

function busy(): ReeveError {
  return overloaded('evaluations of others are going on; try again');
}

function overloaded(message: string): ReeveError {
  return new ReeveError('overloaded', message, { retry_after_secs: 1 });
}

function stopping(): ReeveError {
  return new ReeveError('shutting_down', 'the gateway is being stopped');
}
