import type { CharSet } from './char-set.ts';

/** What must hold between two characters. */
export const assertions = ['textStart', 'textEnd', 'lineStart', 'lineEnd', 'wordEdge', 'noWordEdge'] as const;

export type Assertion = (typeof assertions)[number];

/** A regular expression as a tree. It has no groups, because nobody asks what they match. */
export type Pattern =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly options: readonly Pattern[] }
  | {
      readonly kind: 'repeat';
      readonly part: Pattern;
      readonly least: number;
      readonly most: number;
      /** Prefers few repetitions to many. */
      readonly lazy: boolean;
    };

export class PatternError extends Error {}
