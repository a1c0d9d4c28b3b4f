import type { Clock } from './clock.ts';
import type { Sha256 } from './hash.ts';
import type { Randomness } from './randomness.ts';

/** What the core needs of the machine. */
export interface Ports {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly sha256: Sha256;
}
