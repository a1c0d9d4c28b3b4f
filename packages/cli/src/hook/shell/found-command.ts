import type { Cell, Word } from './word.ts';

/** A redirection of a command. */
export interface Redirection {
  /** Without the number before it. */
  readonly operator: string;
  /** The number before it, or `{name}`. Empty if there is none. */
  readonly descriptor: string;
  /** The file, the number, or the text of `<<<`. Undefined for a here-document. */
  readonly target: Word | undefined;
  /** Of a here-document. Known once the line has ended. */
  document?: { readonly text: string; readonly hasExpansion: boolean };
}

export interface Assignment {
  readonly name: string;
  readonly value: Word;
}

/** A command as it stands in the text. A compound command with redirections leaves one without words. */
export interface FoundCommand {
  readonly words: readonly Word[];
  readonly assignments: readonly Assignment[];
  readonly redirections: readonly Redirection[];
  /** In a loop or a function: it may run several times. */
  readonly isRepeated: boolean;
}

/** The end of `name=` or `name[subscript]+=` at the start of a word, or undefined if it is no assignment. */
export function assignmentEnd(cells: readonly Cell[]): { name: string; end: number } | undefined {
  let at = 0;
  let name = '';
  while (isPlain(cells[at]) && /^\w$/.test(cells[at]?.text ?? '')) name += cells[at++]?.text ?? '';
  if (!/^[A-Za-z_]/.test(name)) return undefined;
  if (isPlain(cells[at]) && cells[at]?.text === '[') {
    const close = cells.findIndex((cell, index) => index > at && isPlain(cell) && cell.text === ']');
    if (close < 0) return undefined;
    at = close + 1;
  }
  if (isPlain(cells[at]) && cells[at]?.text === '+') at++;
  return isPlain(cells[at]) && cells[at]?.text === '=' ? { name, end: at + 1 } : undefined;
}

function isPlain(cell: Cell | undefined): cell is Cell {
  return cell !== undefined && !cell.quoted && !cell.unknown;
}
