import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Limits } from '../part.ts';
import type { TextFault, TextJob } from './text-worker.ts';
import type { TextKind } from './text-input.ts';
import { textInput } from './text-input.ts';

/** An input that stalls a thread for this long will never finish. */
const hangsAfterMs = 30_000;
const mostCpuMs = 5000;
/** The thread is replaced after this many inputs, so that retained memory is not mistaken for needed memory. */
const inputsPerThread = 100_000;

/** Reads inputs of a kind in a supervised thread. Returns their number and the findings. */
export async function fuzzTexts(kind: TextKind, limits: Limits): Promise<{ inputs: number; findings: string[] }> {
  const shared = new SharedArrayBuffer(8);
  for (let from = 0; from < limits.most && performance.now() < limits.endsAt; from += inputsPerThread) {
    const to = Math.min(limits.most, from + inputsPerThread);
    const fault = await runThread({ kind, seed: limits.seed, from, to, shared, mostCpuMs }, limits);
    const inputs = new Int32Array(shared)[0] ?? 0;
    if (fault !== null) return { inputs, findings: [describe(kind, limits.seed, fault)] };
    limits.say(`${kind}: ${inputs + 1} inputs`);
  }
  return { inputs: (new Int32Array(shared)[0] ?? 0) + 1, findings: [] };
}

async function runThread(job: TextJob, { endsAt }: Limits): Promise<TextFault | null> {
  const state = new Int32Array(job.shared);
  const worker = new Worker(new URL('./text-worker.ts', import.meta.url), {
    workerData: job,
    // Far more than any input needs. A thread that runs out of memory is a finding, not the end of the campaign.
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const told = once(worker, 'message').then(
    ([fault]) => fault as TextFault | null,
    (error: unknown) => ({ nth: state[0] ?? 0, message: String(error) }),
  );
  const ended = new AbortController();
  const watch = watchProgress(state, endsAt, ended.signal);
  const fault = await Promise.race([told, watch]);
  ended.abort();
  await worker.terminate();
  return fault;
}

async function watchProgress(state: Int32Array, endsAt: number, signal: AbortSignal): Promise<TextFault | null> {
  let nth = -1;
  let since = performance.now();
  while (!signal.aborted) {
    if (performance.now() >= endsAt) Atomics.store(state, 1, 1);
    const current = Atomics.load(state, 0);
    if (current !== nth) {
      nth = current;
      since = performance.now();
    } else if (performance.now() - since > hangsAfterMs) {
      return { nth, message: `has no end within ${hangsAfterMs / 1000} s` };
    }
    await sleep(200, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

function describe(kind: TextKind, seed: number, { nth, message }: TextFault): string {
  const text = JSON.stringify(textInput(kind, seed, nth));
  return `${kind} ${nth} of seed ${seed}: ${message}\ninput: ${text.length > 4000 ? `${text.slice(0, 4000)}…` : text}`;
}
