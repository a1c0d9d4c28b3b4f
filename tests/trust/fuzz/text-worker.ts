// A thread that reads one input after another. Its progress is in shared memory, for its supervisor.
import { parentPort, workerData } from 'node:worker_threads';
import type { TextKind } from './text-input.ts';
import { textInput } from './text-input.ts';
import { tryText } from './try-text.ts';

export interface TextJob {
  readonly kind: TextKind;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** The number of the current input, and a flag that ends the thread. */
  readonly shared: SharedArrayBuffer;
  /** The CPU time that an input may take, in milliseconds. */
  readonly mostCpuMs: number;
}

export interface TextFault {
  readonly nth: number;
  readonly message: string;
}

const { kind, seed, from, to, shared, mostCpuMs } = workerData as TextJob;
const state = new Int32Array(shared);
let fault: TextFault | undefined;
for (let nth = from; nth < to && fault === undefined && Atomics.load(state, 1) === 0; nth++) {
  Atomics.store(state, 0, nth);
  const before = process.threadCpuUsage().user;
  try {
    tryText(kind, textInput(kind, seed, nth));
  } catch (error) {
    fault = { nth, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  const took = (process.threadCpuUsage().user - before) / 1000;
  if (took > mostCpuMs) fault = { nth, message: `takes ${Math.round(took)} ms` };
}
parentPort?.postMessage(fault ?? null);
