import { argon2Sync } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { giveWay } from '../system/give-way.ts';
import type { HashParameters } from './password-hash.ts';

/** One password to be hashed. */
export interface HashJob {
  readonly password: string;
  readonly salt: Uint8Array;
  readonly parameters: HashParameters;
}

export type HashAnswer = { readonly tag: Uint8Array } | { readonly error: string };

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

// A busy machine must still let people log in, so hashing never stops altogether.
giveWay('much');
parentPort?.on('message', (job: HashJob) => parentPort?.postMessage(perform(job)));
