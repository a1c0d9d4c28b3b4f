import { argon2Sync } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { HashParameters } from './password-hash.ts';

/** One password to be hashed. */
export interface HashJob {
  readonly password: string;
  readonly salt: Uint8Array;
  readonly parameters: HashParameters;
}

export type HashAnswer = { readonly tag: Uint8Array } | { readonly error: string };

/**
 * Decisions come first where cores are few, but a busy machine must still let people log in. On Linux a thread has its
 * own priority; elsewhere this call would change that of the whole process.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may forbid it; then hashing only competes more with decisions.
  }
}

function perform({ password, salt, parameters }: HashJob): HashAnswer {
  try {
    const tag = argon2Sync('argon2id', {
      message: password,
      nonce: salt,
      parallelism: parameters.lanes,
      tagLength: parameters.tagBytes,
      memory: parameters.memoryKib,
      passes: parameters.passes,
    });
    return { tag };
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'unknown' };
  }
}

giveWay();
parentPort?.on('message', (job: HashJob) => parentPort?.postMessage(perform(job)));
