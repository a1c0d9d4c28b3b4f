/** A mechanism that is broken on purpose: in a copy of the sources, this text is replaced. */
export interface Mutant {
  /** The mechanism, and what is wrong with it. */
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly text: string;
  readonly replacement: string;
}

/** Where the core is. */
export const core = 'packages/core/src';
