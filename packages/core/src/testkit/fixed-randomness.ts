import { hash } from 'node:crypto';
import type { Randomness } from '../kernel/ports.ts';

/** Bytes that look random and are the same in every run. */
export function fixedRandomness(seed = 'reeve'): Randomness {
  let drawn = 0;
  const bytes = (count: number): Buffer => {
    let made = Buffer.alloc(0);
    while (made.length < count) made = Buffer.concat([made, hash('sha256', `${seed}/${drawn++}`, 'buffer')]);
    return made.subarray(0, count);
  };
  return {
    hex: (count) => bytes(count).toString('hex'),
    base64url: (count) => bytes(count).toString('base64url'),
  };
}
