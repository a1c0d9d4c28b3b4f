import type { FileOperand } from './file-operand.ts';
import type { Word } from './word.ts';

/** The letters whose values follow as words, in the order of the letters, if these come without a dash. */
const valued = 'bCfFgHIKLNTVX';
const extracting = /^(?:-[0-9A-Z_a-wyz]*x\w*|--extract|--get)$/;
const making = /^(?:-[A-Za-eg-z]*[cruA]|--(?:create|append|update|catenate|concatenate|delete)$)/;
const archiveOption = /^(?:--file=|-[A-Za-eg-z]*f)(.*)$/s;

/**
 * Whether it packs or unpacks, whatever it names is read, and written when it unpacks. The archive is written when it is
 * made or changed.
 */
export function tarOperands(args: readonly Word[]): readonly FileOperand[] {
  const [first] = args;
  const letters = /^-?[a-zA-Z]+$/.test(first?.text ?? '') ? (first?.text ?? '') : '';
  const isBare = letters !== '' && !letters.startsWith('-');
  const has = (mode: RegExp) => args.some(({ text }) => mode.test(text)) || (isBare && mode.test(`-${letters}`));
  const unpacks = letters.includes('x') || has(extracting);
  const words = args
    .slice(isBare ? 1 : 0)
    .map((word) => ({ ...word, text: word.text.replace(/^--(?:file|directory|files-from)=/, '') }))
    .filter(({ text: word }) => !word.startsWith('-'));
  return [
    ...words.flatMap((word) => [
      { operation: 'read', word, isDeep: !unpacks } as const,
      ...(unpacks ? [{ operation: 'write', word, isDeep: false } as const] : []),
    ]),
    ...(has(making) ? archivesOf(args, isBare ? letters : '') : []),
  ];
}

function archivesOf(args: readonly Word[], bare: string): readonly FileOperand[] {
  const place = Array.from(bare)
    .filter((letter) => valued.includes(letter))
    .indexOf('f');
  const named = args.flatMap((word, at): readonly (Word | undefined)[] => {
    const [, attached] = archiveOption.exec(word.text) ?? [];
    if (attached === undefined) return word.text === '--file' ? [args[at + 1]] : [];
    return [attached === '' ? args[at + 1] : { ...word, text: attached }];
  });
  const archives = [...named, place < 0 ? undefined : args[1 + place]].filter((word) => word !== undefined);
  return archives.map((word) => ({ operation: 'write', word, isDeep: false }));
}
