import type { Word } from './word.ts';

/** The options that a command knows. Others leave in doubt where its operands begin. */
export interface OptionRule {
  /** Letters of options without a value. */
  readonly flags?: string;
  /** Letters of options with a value. */
  readonly valued?: string;
  /** Letters whose value, if there is one, is attached. */
  readonly attached?: string;
  readonly longFlags?: readonly string[];
  readonly longValued?: readonly string[];
}

export interface ReadOptions {
  /** By letter or long name. The value of a flag is undefined. */
  readonly options: ReadonlyMap<string, Word | undefined>;
  readonly operands: readonly Word[];
  /** Why it is not certain that these are the operands. */
  readonly doubt: string | undefined;
}

/** Splits the words after a command into its options and its operands. Options end at the first operand. */
export function readOptions(words: readonly Word[], rule: OptionRule): ReadOptions {
  const options = new Map<string, Word | undefined>();
  let doubt: string | undefined;
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || !/^-./.test(word.text)) break;
    if (word.unknown && word.text.startsWith('-')) doubt ??= `the option ${word.text} is known only when it runs`;
    if (word.text === '--') {
      at++;
      break;
    }
    const step = word.text.startsWith('--') ? readLong(word, rule) : readShort(word, rule);
    for (const name of step.flags) options.set(name, undefined);
    doubt ??= step.doubt;
    if (step.valued === undefined) continue;
    const value = step.value === undefined ? words[++at] : { ...word, text: step.value };
    options.set(step.valued, value);
  }
  const operands = words.slice(at);
  if (operands[0]?.unknown === true && doubt === undefined && !operands[0].isHidden) {
    doubt = `${operands[0].text} is known only when it runs`;
  }
  return { options, operands, doubt };
}

interface Step {
  readonly flags: readonly string[];
  readonly valued?: string;
  readonly value?: string;
  readonly doubt?: string;
}

function readLong({ text }: Word, { longFlags = [], longValued = [] }: OptionRule): Step {
  const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (longValued.includes(name))
    return value === undefined ? { flags: [], valued: name } : { flags: [], valued: name, value };
  if (longFlags.includes(name) || name === 'help' || name === 'version') return { flags: [name] };
  return { flags: [name], doubt: `the option --${name} is not known` };
}

function readShort({ text }: Word, { flags = '', valued = '', attached = '' }: OptionRule): Step {
  const seen: string[] = [];
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? '';
    const rest = text.slice(at + 1);
    if (valued.includes(letter))
      return rest === '' ? { flags: seen, valued: letter } : { flags: seen, valued: letter, value: rest };
    if (attached.includes(letter)) return { flags: [...seen, letter] };
    seen.push(letter);
    if (!flags.includes(letter)) return { flags: seen, doubt: `the option -${letter} is not known` };
  }
  return { flags: seen };
}
