import type { Charge, Range } from '../kernel/index.ts';
import type { DetectorName } from './detectors.ts';
import type { FieldPath } from './field-path.ts';

/** Finds what a pattern matches in a text. */
export type FindMatches = (text: string, charge: Charge) => Iterable<Range>;

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
