import type { FileOperand } from './file-operand.ts';
import { findOperands } from './find-operands.ts';
import { tarOperands } from './tar-operands.ts';
import type { Word } from './word.ts';

/** How a program takes files. */
interface Shape {
  /**
   * Of the operands: all are read, all are written, or the last one is written and the others are read or moved. Or they
   * are no files: those of a wrapper are a command, whose options are not its own.
   */
  readonly operands: 'read' | 'write' | 'into' | 'moved' | 'none' | 'command';
  /** Operands before the files, such as a pattern, unless an option of `given` brings it. */
  readonly before?: number;
  readonly given?: RegExp;
  /** Options whose value is the next word and no file. */
  readonly valued?: RegExp;
  /** Options whose value, attached or the next word, is a file that is read or written. */
  readonly reads?: RegExp;
  readonly writes?: RegExp;
  /** Options with a name and then a file that is read. */
  readonly named?: RegExp;
  /** With these options, or always, folders count with all that is in them. */
  readonly deep?: RegExp | true;
  /** With one of these options the operands are written. */
  readonly writesWith?: RegExp;
}

const recursive = /^(?:-[b-qs-zA-QS-Z]*[rRa][a-zA-Z]*|--recursive|--archive|--dereference-recursive)$/;
const reading: Shape = { operands: 'read' };
const writing: Shape = { operands: 'write' };
const lines: Shape = { operands: 'read', valued: /^-[nc]$|^--(?:lines|bytes)$/ };
/** What is not the name of a file in the list comes back in a complaint. */
const listed: Shape = { operands: 'read', reads: /^--files0-from$/ };
const search: Shape = {
  operands: 'read',
  before: 1,
  given: /^(?:-[a-zA-Z]*[ef]|--regexp.*|--file.*)/,
  valued: /^-[a-zA-Z]*[ABCmeDd]$|^--(?:include|exclude|exclude-dir|glob|iglob|type|max-count|context|regexp)$/,
  reads: /^(?:-f|--file)$/,
  deep: /^(?:-[a-zA-Z]*[rR]|--recursive)/,
};
const modes: Shape = { operands: 'write', before: 1, given: /^--reference/, deep: recursive };
const copies: Shape = { operands: 'into', valued: /^-[mogS]$/, writes: /^(?:-t|--target-directory)$/, deep: recursive };
const text: Shape = {
  operands: 'read',
  before: 1,
  given: /^(?:-[a-zA-Z]*[ef]|--expression.*|--file.*)/,
  valued: /^-[vFel]$/,
};

const shapes: Readonly<Record<string, Shape>> = {
  ...Object.fromEntries(
    (
      'cat tac nl cut od hexdump strings base64 base32 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum ' +
      'cksum sum b2sum file stat diff cmp comm join paste column rev fold fmt expand unexpand readlink realpath zcat bzcat ' +
      'xzcat bat batcat source . cd chdir pushd ls less more'
    )
      .split(' ')
      .map((name) => [name, reading]),
  ),
  ...Object.fromEntries(
    'tee touch mkdir rmdir unlink truncate shred gzip gunzip bzip2 xz unxz'.split(' ').map((name) => [name, writing]),
  ),
  wc: listed,
  // What is no date comes back in a complaint.
  date: { operands: 'none', valued: /^-[dsrI]$|^--(?:date|set|reference)$/, reads: /^(?:-f|--file)$/ },
  time: { operands: 'command', valued: /^(?:-f|--format)$/, writes: /^(?:-o|--output)$/ },
  strace: { operands: 'command', valued: /^-[abeEIOpPsSuUX]$/, writes: /^(?:-o|--output)$/ },
  ltrace: { operands: 'command', valued: /^-[aAeFlnpsuwxX]$/, writes: /^(?:-o|--output)$/ },
  xargs: {
    operands: 'command',
    valued: /^-[IndPLsE]$|^--(?:max-args|delimiter|max-procs|max-chars)$/,
    reads: /^(?:-a|--arg-file)$/,
  },
  head: lines,
  // A second file is what they write.
  uniq: { operands: 'into', valued: /^-[fsw]$/ },
  xxd: { operands: 'into', valued: /^-[cglnosR]$/ },
  tail: lines,
  sort: { ...listed, valued: /^-[ktST]$/, writes: /^(?:-o|--output)$/ },
  grep: search,
  egrep: search,
  fgrep: search,
  zgrep: search,
  rg: {
    ...search,
    valued: /^-[a-zA-Z]*[ABCmegtTjMrdE]$|^--(?:glob|iglob|type|type-not|replace|max-count|context|regexp)$/,
    deep: true,
  },
  ag: { ...search, valued: /^-[a-zA-Z]*[ABCmGp]$|^--(?:ignore|ignore-dir)$/, deep: true },
  ack: { ...search, valued: /^-[a-zA-Z]*[ABCm]$|^--(?:type|ignore-dir)$/, deep: true },
  jq: {
    operands: 'read',
    before: 1,
    valued: /^--(?:arg|argjson|indent)$/,
    reads: /^(?:-f|--from-file)$/,
    named: /^--(?:slurpfile|rawfile)$/,
  },
  yq: { operands: 'read', before: 1, writesWith: /^(?:-i|--inplace)$/ },
  awk: text,
  gawk: text,
  sed: { ...text, writesWith: /^(?:-[a-zA-Z]*i|--in-place)/ },
  tree: { operands: 'read', valued: /^-[LPI]$/, writes: /^-o$/ },
  du: { ...listed, valued: /^-[dt]$/ },
  cp: copies,
  install: copies,
  scp: copies,
  rsync: { ...copies, deep: true },
  mv: { operands: 'moved', valued: /^-S$/, writes: /^(?:-t|--target-directory)$/, deep: true },
  ln: { operands: 'into', valued: /^-S$/, writes: /^(?:-t|--target-directory)$/, deep: true },
  rm: { operands: 'write', deep: recursive },
  chmod: modes,
  chown: modes,
  chgrp: modes,
  zip: { operands: 'read', writes: /^$/, deep: true },
  unzip: { operands: 'read', valued: /^-P$/, writes: /^-d$/ },
  patch: {
    operands: 'write',
    valued: /^-[pFVzDBxY]$/,
    reads: /^(?:-i|--input)$/,
    writes: /^(?:-[od]|--output|--directory)$/,
  },
  split: { operands: 'read', valued: /^-[abClnt]$/ },
};

/** The files that the words of a program name. Undefined if it is not known which of them do. */
export function fileOperands(name: string, args: readonly Word[]): readonly FileOperand[] | undefined {
  if (name === 'find') return findOperands(args, fileOperands);
  if (name === 'dd') return ddOperands(args);
  if (name === 'git') return gitOperands(args);
  if (/^(?:bsd|g)?tar$/.test(name)) return tarOperands(args);
  const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
  return shape === undefined ? undefined : read(args, shape);
}

function read(args: readonly Word[], shape: Shape): readonly FileOperand[] {
  const { named, given, deep, writesWith } = shape;
  const isDeep = deep === true || args.some(({ text: option }) => deep?.test(option) === true);
  const found: FileOperand[] = [];
  const operands: Word[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) break;
    if (word.text === '--') {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (!/^-./.test(word.text)) {
      if (shape.operands === 'command') break;
      operands.push(word);
      continue;
    }
    if (named?.test(word.text) === true) {
      const file = args[at + 2];
      if (file !== undefined) found.push({ operation: 'read', word: file, isDeep });
      at += 2;
      continue;
    }
    const { operation, value, takesNext } = readOption(word, args[at + 1], shape);
    if (operation !== undefined && value !== undefined) found.push({ operation, word: value, isDeep });
    if (takesNext) at++;
  }
  const isGiven = given !== undefined && args.some(({ text: option }) => given.test(option));
  const files = operands.slice(isGiven ? 0 : (shape.before ?? 0)).filter(({ text: file }) => file !== '-');
  const writesAll = args.some(({ text: option }) => writesWith?.test(option) === true);
  const intoLast = !found.some(({ operation }) => operation === 'write');
  files.forEach((word, at) => {
    const isLast = at === files.length - 1 && files.length > 1 && intoLast;
    const asWritten = { operation: 'write', word, isDeep } as const;
    const asRead = { operation: 'read', word, isDeep } as const;
    if (shape.operands === 'none' || shape.operands === 'command') return;
    if (shape.operands === 'write' || writesAll) found.push(asWritten);
    else if (shape.operands === 'read') found.push(asRead);
    else if (isLast) found.push(asWritten);
    else found.push(...(shape.operands === 'moved' ? [asRead, asWritten] : [asRead]));
  });
  return found;
}

interface ReadOption {
  readonly operation?: FileOperand['operation'];
  readonly value?: Word | undefined;
  readonly takesNext: boolean;
}

/** What an option says about a file: `--output=x`, `--output x`, `-o x`, `-ox`, and `-uo x`. */
function readOption(word: Word, next: Word | undefined, { valued, reads, writes }: Shape): ReadOption {
  const operationOf = (option: string): FileOperand['operation'] | undefined => {
    if (writes?.test(option) === true) return 'write';
    return reads?.test(option) === true ? 'read' : undefined;
  };
  const { text: written } = word;
  const equals = written.indexOf('=');
  const whole = operationOf(equals < 0 ? written : written.slice(0, equals));
  if (whole !== undefined) {
    const value = equals < 0 ? next : { ...word, text: written.slice(equals + 1) };
    return { operation: whole, value, takesNext: equals < 0 };
  }
  for (let at = 1; at < written.length && !written.startsWith('--'); at++) {
    const option = `-${written[at]}`;
    const rest = written.slice(at + 1);
    const operation = operationOf(option);
    if (operation !== undefined)
      return { operation, value: rest === '' ? next : { ...word, text: rest }, takesNext: rest === '' };
    // The rest is its value.
    if (valued?.test(option) === true && rest !== '') return { takesNext: false };
  }
  return { takesNext: equals < 0 && valued?.test(written) === true };
}

/** Files outside of what git keeps: where it puts its output, and what it compares without a repository. */
function gitOperands(args: readonly Word[]): readonly FileOperand[] {
  const folder = args[args.findIndex(({ text: word }) => word === '-C') + 1];
  const isMoved = args.some(({ text: word }) => word === '-C');
  const inFolder = (word: Word): Word =>
    !isMoved || folder === undefined || /^[/~]/.test(word.text)
      ? word
      : { ...word, text: `${folder.text}/${word.text}`, unknown: word.unknown || folder.unknown };
  const isOutside = args.some(({ text: word }) => word === '--no-index');
  const putsOut = args.some(({ text: word }) => /^(?:archive|format-patch)$/.test(word));
  return args.flatMap((word, at): readonly FileOperand[] => {
    const before = args[at - 1]?.text ?? '';
    const [, attached] = /^--output(?:-directory)?=(.*)$/s.exec(word.text) ?? [];
    if (attached !== undefined)
      return [{ operation: 'write', word: inFolder({ ...word, text: attached }), isDeep: false }];
    if (/^--output(?:-directory)?$/.test(before) || (putsOut && before === '-o'))
      return [{ operation: 'write', word: inFolder(word), isDeep: false }];
    return isOutside && !word.text.startsWith('-') ? [{ operation: 'read', word: inFolder(word), isDeep: true }] : [];
  });
}

function ddOperands(args: readonly Word[]): readonly FileOperand[] {
  return args.flatMap((word) => {
    const [, key, file] = /^(if|of)=(.*)$/s.exec(word.text) ?? [];
    if (file === undefined) return [];
    return [{ operation: key === 'of' ? 'write' : 'read', word: { ...word, text: file }, isDeep: false } as const];
  });
}
