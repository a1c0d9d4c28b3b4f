import type { Charge, Range } from '../kernel/index.ts';
import type { DetectorName } from './detectors.ts';
import type { FieldPath } from './field-path.ts';

/** Finds what a pattern matches in a text. */
export interface FindMatches {
  (text: string, charge: Charge): Iterable<Range>;
  /**
   * Whether a text that is still being written can be cut behind this character: no match has it in it, or looks over it. If
   * nobody can tell, a text cannot be cut anywhere.
   */
  readonly breaksAfter?: (character: string) => boolean;
}

/** What one rule masks. */
export interface Mask {
  readonly detect: readonly DetectorName[];
  /** The same pattern of several masks is the same function. */
  readonly patterns: readonly FindMatches[];
  readonly fields: readonly FieldPath[];
  readonly with: string;
}

/** What found something: a detector, a pattern or a field. */
export type FoundBy = DetectorName | 'pattern' | 'field';
