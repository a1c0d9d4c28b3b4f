/** In a copy of the sources, this text is replaced. */
export interface Breakage {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly text: string;
  readonly replacement: string;
}

/** A mechanism that is broken on purpose. */
export interface Mutant extends Breakage {
  /** The mechanism, and what is wrong with it. */
  readonly name: string;
  /** Other mechanisms keep the same promise. All are broken, because any of them alone is enough. */
  readonly also?: readonly Breakage[];
}

/** Where the core is. */
export const core = 'packages/core/src';
