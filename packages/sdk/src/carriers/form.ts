import type { CarrierWord } from './carrier-word.ts';
import { mayBeOption } from './carrier-word.ts';

/** The options of a program that are known to run no other one. Whatever is not named here is in doubt. */
export interface Form {
  /** Letters of options without a value. */
  readonly flags?: string;
  /** Letters of options with a value, attached or as the next word. */
  readonly valued?: string;
  /** Letters whose value, if there is one, is attached. */
  readonly attached?: string;
  /** Long options, also with one dash if the program writes them so. One with a value ends in `=`, with an optional one in `=?`. */
  readonly long?: string;
  /** Long options have one dash. */
  readonly singleDash?: true;
  /** Options end at the first operand. */
  readonly ends?: true;
  /** Letters of options with a value, after which there are no more options. */
  readonly last?: readonly string[];
  /** Why the operands, or an option's value, may run another program. */
  readonly doubtIn?: (read: ReadForm) => string | undefined;
}

/** The words of a command whose options are all known. */
export interface ReadForm {
  readonly options: ReadonlyMap<string, readonly CarrierWord[]>;
  readonly operands: readonly CarrierWord[];
}

/** Why the words may run another program. Undefined if they are of this form. */
export function doubtOfForm(words: readonly CarrierWord[], form: Form): string | undefined {
  const options = new Map<string, CarrierWord[]>();
  const operands: CarrierWord[] = [];
  const longs = longOptions(form.long ?? '');
  const take = (name: string, value: CarrierWord | undefined) => {
    options.set(name, [...(options.get(name) ?? []), ...(value === undefined ? [] : [value])]);
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    const { text } = word;
    if (text === '--' && word.unknown !== true) {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (mayBeOption(word))
      return word.isGlob === true
        ? `${text} may become an option; write ./${text}`
        : `${text === '' ? 'what comes' : text} may become an option; write -- before it`;
    if (!/^-./s.test(text)) {
      operands.push(word);
      if (form.ends !== true) continue;
      operands.push(...words.slice(at + 1));
      break;
    }
    const long = longIn(word, form, longs);
    if (long !== undefined) {
      take(long.name, long.takesNext ? words[++at] : long.value);
      continue;
    }
    if (text.startsWith('--')) return `the option ${text.replace(/=.*$/s, '')} may run another program`;
    const letters = readLetters(word, form, take);
    if (letters.doubt !== undefined) return letters.doubt;
    if (letters.valued !== undefined) take(letters.valued, words[++at]);
    if (form.last?.some((letter) => options.has(letter)) !== true) continue;
    operands.push(...words.slice(at + 1));
    break;
  }
  return form.doubtIn?.({ options, operands });
}

interface Long {
  readonly takesValue: boolean;
  readonly isOptional: boolean;
}

const known = new Map<string, ReadonlyMap<string, Long>>();

function longOptions(text: string): ReadonlyMap<string, Long> {
  const found = known.get(text);
  if (found !== undefined) return found;
  const names = `help version ${text}`.split(' ').filter((name) => name !== '');
  const longs = new Map(
    names.map((name) => [
      name.replace(/=\??$/, ''),
      { takesValue: name.includes('='), isOptional: name.endsWith('?') },
    ]),
  );
  known.set(text, longs);
  return longs;
}

function longIn(word: CarrierWord, form: Form, longs: ReadonlyMap<string, Long>) {
  const start = word.text.startsWith('--') ? 2 : form.singleDash === true ? 1 : undefined;
  if (start === undefined) return undefined;
  const equals = word.text.indexOf('=');
  const name = word.text.slice(start, equals < 0 ? undefined : equals);
  const long = longs.get(name);
  if (long === undefined || (equals >= 0 && !long.takesValue)) return undefined;
  const value = equals < 0 ? undefined : { ...word, text: word.text.slice(equals + 1) };
  return { name, value, takesNext: long.takesValue && !long.isOptional && equals < 0 };
}

function readLetters(
  word: CarrierWord,
  { flags = '', valued = '', attached = '' }: Form,
  take: (name: string, value: CarrierWord | undefined) => void,
): { readonly doubt?: string; readonly valued?: string } {
  const { text } = word;
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? '';
    const rest = text.slice(at + 1);
    if (valued.includes(letter)) {
      if (rest === '') return { valued: letter };
      take(letter, { ...word, text: rest });
      return {};
    }
    if (attached.includes(letter)) {
      take(letter, rest === '' ? undefined : { ...word, text: rest });
      return {};
    }
    if (!flags.includes(letter)) return { doubt: `the option -${letter} may run another program` };
    take(letter, undefined);
  }
  return {};
}
