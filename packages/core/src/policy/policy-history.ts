import type { EpochMs } from '../kernel/clock.ts';
import type { PolicySource } from './parsed-source.ts';

/** What was in force together, by the version that answers and the audit log name it with. */
export interface PolicyHistory {
  /** Undefined where the set is not remembered any more, or never was. */
  find(version: string): Promise<readonly PolicySource[] | undefined>;
}

/** How many sets are remembered: those that came in force last. */
export const setsKept = 100;

/** A set to be remembered. A text that many sets have is kept once, under its hash. */
export interface PolicySetRecord {
  readonly version: string;
  readonly at: EpochMs;
  readonly sources: readonly (PolicySource & { readonly hash: string })[];
}
