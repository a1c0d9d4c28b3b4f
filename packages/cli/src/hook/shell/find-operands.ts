import type { FileOperand } from './file-operand.ts';
import type { Word } from './word.ts';
import { literal } from './word.ts';

type Operands = (name: string, args: readonly Word[]) => readonly FileOperand[] | undefined;

/** Options that may come before the folders, of GNU and of BSD. */
const beforeFolders = /^-(?:[EHLPXdfsx]+|D|O\d*|-)$/;
const expression = /^(?:-.|[(!]$)/;
const compared = /^-(?:[ac]?newer|newer[aBcmt][aBcm]|samefile|files0-from)$/;
const printed = /^-(?:fprint[0f]?|fls)$/;
const running = /^-(?:exec|ok)(?:dir)?$/;

/** The folders where `find` looks, and the files that its expressions name. What it runs does something to what it finds. */
export function findOperands(args: readonly Word[], operandsOf: Operands): readonly FileOperand[] {
  const has = (option: RegExp) => args.some(({ text }) => option.test(text));
  const runs = args.flatMap(({ text }, at) => (running.test(text) ? [harmOf(args, at, operandsOf)] : []));
  const deletes = has(/^-delete$/);
  const isDeep = deletes || runs.length > 0;
  const isKnown = deletes || runs.includes('writes');
  const folders = foldersOf(args, has(/^-files0-from$/)).flatMap((word): readonly FileOperand[] => [
    ...(deletes && runs.length === 0 ? [] : [{ operation: 'read', word, isDeep } as const]),
    ...(isKnown || runs.includes('unknown') ? [{ operation: 'write', word, isDeep: isKnown } as const] : []),
  ]);
  const named = args.flatMap((word, at): readonly FileOperand[] => {
    const before = args[at - 1]?.text ?? '';
    if (compared.test(before)) return [{ operation: 'read', word, isDeep: false }];
    return printed.test(before) ? [{ operation: 'write', word, isDeep: false }] : [];
  });
  return [...folders, ...named];
}

/** All words before the first expression. One that is known only when it runs may be none. */
function foldersOf(args: readonly Word[], areListed: boolean): readonly Word[] {
  const folders: Word[] = [];
  for (const word of args) {
    if (beforeFolders.test(word.text)) continue;
    if (expression.test(word.text) && !word.unknown && !word.isGlob) break;
    folders.push(word);
  }
  return folders.length === 0 && !areListed ? [literal('.')] : folders;
}

/** What the command that begins behind a place does to what is found. */
function harmOf(args: readonly Word[], at: number, operandsOf: Operands): 'reads' | 'writes' | 'unknown' {
  const [command, ...words] = args.slice(at + 1);
  const end = words.findIndex(({ text }, nth) => text === ';' || (text === '+' && words[nth - 1]?.text === '{}'));
  if (command === undefined || command.unknown) return 'unknown';
  const operands = operandsOf(command.text.replace(/^.*\//s, ''), words.slice(0, end < 0 ? undefined : end));
  if (operands === undefined) return 'unknown';
  // It may run in the folder of what was found.
  const isThere = args[at]?.text.endsWith('dir') === true;
  return operands.some(({ operation, word }) => operation === 'write' && (isThere || word.text.includes('{}')))
    ? 'writes'
    : 'reads';
}
