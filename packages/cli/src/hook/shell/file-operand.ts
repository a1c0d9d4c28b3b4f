import type { Word } from './word.ts';

/** What a program does to a file that one of its words names. */
export interface FileOperand {
  readonly operation: 'read' | 'write';
  readonly word: Word;
  /** A folder is used with all that is in it. */
  readonly isDeep: boolean;
}
