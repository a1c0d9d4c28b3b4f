import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorCode } from '@reeve/core';
import { messageOf, ReeveError } from '@reeve/core';
import { giveWay } from '../system/give-way.ts';
import type { EvaluationJobs, JobKind } from './evaluation-jobs.ts';
import { performJob } from './perform-job.ts';
import type { EvaluationSettings, PolicyNews } from './thread-world.ts';
import { ThreadWorld } from './thread-world.ts';

/** Evaluates what callers have written, in a separate thread. No decision waits for it, whatever it costs. */
export type ThreadCall =
  | { readonly type: 'serve'; readonly tenant: string }
  | { readonly type: 'learn'; readonly news: PolicyNews }
  | { readonly type: 'job'; readonly kind: JobKind; readonly input: EvaluationJobs[JobKind]['in'] };

export type ThreadAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'learned' }
  | { readonly type: 'done'; readonly output: unknown }
  | {
      readonly type: 'refused';
      readonly code: ErrorCode;
      readonly message: string;
      readonly facts: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'failed'; readonly message: string; readonly exhausted: boolean };

const world = new ThreadWorld(workerData as EvaluationSettings);

async function answerTo(call: Exclude<ThreadCall, { type: 'serve' }>): Promise<ThreadAnswer> {
  try {
    if (call.type === 'job') return { type: 'done', output: await performJob(world, call.kind, call.input) };
    world.learn(call.news);
    return { type: 'learned' };
  } catch (error) {
    if (error instanceof ReeveError) {
      return { type: 'refused', code: error.code, message: error.message, facts: error.facts };
    }
    // Input that is nested too deeply overflows the stack.
    return { type: 'failed', message: messageOf(error), exhausted: error instanceof RangeError };
  }
}

giveWay('much');
parentPort?.on('message', (call: ThreadCall) => {
  if (call.type === 'serve') world.serve(call.tenant);
  else void answerTo(call).then((answer) => parentPort?.postMessage(answer));
});
parentPort?.postMessage({ type: 'ready' } satisfies ThreadAnswer);
