import { newline, wordCharacter } from './char-set.ts';
import type { Assertion } from './pattern.ts';
import type { Program } from './program.ts';

/** The character on one side of a place in a text. */
export type Side = 'edge' | 'word' | 'newline' | 'other';

export function operationAt({ code }: Program, place: number): number {
  return (code[2 * place] ?? 0) & 3;
}

export function argumentAt({ code }: Program, place: number): number {
  return (code[2 * place] ?? 0) >> 2;
}

export function nextAt({ code }: Program, place: number): number {
  return code[2 * place + 1] ?? 0;
}

export function sideOf(code: number): Side {
  if (wordCharacter.has(code)) return 'word';
  return newline.has(code) ? 'newline' : 'other';
}

export function holds(assertion: Assertion | undefined, before: Side, after: Side): boolean {
  switch (assertion) {
    case 'textStart':
      return before === 'edge';
    case 'textEnd':
      return after === 'edge';
    case 'lineStart':
      return before === 'edge' || before === 'newline';
    case 'lineEnd':
      return after === 'edge' || after === 'newline';
    case 'wordEdge':
      return (before === 'word') !== (after === 'word');
    case 'noWordEdge':
      return (before === 'word') === (after === 'word');
    case undefined:
      return false;
  }
}
