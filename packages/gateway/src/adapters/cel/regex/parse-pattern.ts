import type { CharSet, Range } from './char-set.ts';
import {
  complementSet,
  digit,
  newline,
  posixSets,
  rangesSet,
  space,
  unicodeSet,
  unionSet,
  wordCharacter,
} from './char-set.ts';
import type { Assertion, Pattern } from './pattern.ts';
import { PatternError } from './pattern.ts';

interface Flags {
  readonly ignoreCase: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
  /** Repetitions are lazy unless they say otherwise. */
  readonly swapped: boolean;
}

/** Reads the RE2 syntax that CEL uses. It has nothing that backtracks, such as backreferences and lookaround. */
export function parsePattern(source: string): Pattern {
  return new PatternParser(source).parse();
}

const mostRepeats = 1000;
const deepestGroups = 100;
const perlSets: Readonly<Record<string, CharSet>> = { d: digit, s: space, w: wordCharacter };
const assertions: Readonly<Record<string, Assertion>> = {
  A: 'textStart',
  z: 'textEnd',
  b: 'wordEdge',
  B: 'noWordEdge',
};
const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

class PatternParser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { ignoreCase: false, lines: false, dotAll: false, swapped: false };

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Pattern {
    const pattern = this.#choice();
    if (this.#at < this.#source.length) throw this.#error('")" has no matching "("');
    return pattern;
  }

  #choice(): Pattern {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    const [only] = options;
    return only !== undefined && options.length === 1 ? only : { kind: 'choice', options };
  }

  #sequence(): Pattern {
    const parts: Pattern[] = [];
    while (this.#at < this.#source.length && this.#peek() !== '|' && this.#peek() !== ')') {
      if (this.#take('\\Q')) parts.push(...this.#quoted());
      else parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', parts };
  }

  #quoted(): Pattern[] {
    const end = this.#source.indexOf('\\E', this.#at);
    const text = this.#source.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#source.length : end + 2;
    const parts = Array.from(text, (char) => this.#literal(char.codePointAt(0) ?? 0));
    const last = parts.pop();
    return last === undefined ? parts : [...parts, this.#repeated(last)];
  }

  #repeated(part: Pattern): Pattern {
    const counts = this.#counts();
    if (counts === undefined) return part;
    const [least, most] = counts;
    if (least > mostRepeats || (most > mostRepeats && most !== Number.POSITIVE_INFINITY)) {
      throw this.#error(`a repetition may be counted up to ${mostRepeats}`);
    }
    if (least > most) throw this.#error('a repetition counts from the lower to the higher number');
    const lazy = this.#take('?') !== this.#flags.swapped;
    if (this.#counts() !== undefined) throw this.#error('a repetition cannot be repeated; put a group around it');
    return { kind: 'repeat', part, least, most, lazy };
  }

  #counts(): readonly [least: number, most: number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const written = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.#source.slice(this.#at, this.#at + 16));
    if (written === null) return undefined;
    this.#at += written[0].length;
    const least = Number(written[1]);
    if (written[2] === undefined) return [least, least];
    return [least, written[3] === '' ? Number.POSITIVE_INFINITY : Number(written[3])];
  }

  #atom(): Pattern {
    if (this.#counts() !== undefined) throw this.#error('there is nothing to repeat');
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return { kind: 'set', set: this.#class() };
    if (this.#take('.')) {
      return { kind: 'set', set: this.#flags.dotAll ? complementSet(rangesSet([], false)) : complementSet(newline) };
    }
    if (this.#take('^')) return { kind: 'assertion', assertion: this.#flags.lines ? 'lineStart' : 'textStart' };
    if (this.#take('$')) return { kind: 'assertion', assertion: this.#flags.lines ? 'lineEnd' : 'textEnd' };
    if (this.#peek() !== '\\') return this.#literal(this.#next());
    const assertion = assertions[this.#source.charAt(this.#at + 1)];
    if (assertion !== undefined) {
      this.#at += 2;
      return { kind: 'assertion', assertion };
    }
    const escaped = this.#escape();
    return typeof escaped === 'number' ? this.#literal(escaped) : { kind: 'set', set: escaped };
  }

  #literal(code: number): Pattern {
    return { kind: 'set', set: rangesSet([[code, code]], this.#flags.ignoreCase) };
  }

  #group(): Pattern {
    if (++this.#depth > deepestGroups) throw this.#error(`groups may be nested ${deepestGroups} deep`);
    const outer = this.#flags;
    if (this.#take('?') && this.#readGroupStart()) {
      this.#depth--;
      return { kind: 'sequence', parts: [] };
    }
    const pattern = this.#choice();
    if (!this.#take(')')) throw this.#error('"(" has no matching ")"');
    this.#flags = outer;
    this.#depth--;
    return pattern;
  }

  /** Reads what follows `(?`. Returns true for flags alone, which then hold for the rest of the enclosing group. */
  #readGroupStart(): boolean {
    const rest = this.#source.slice(this.#at, this.#at + 200);
    const name = /^P?<[A-Za-z_]\w*>/.exec(rest);
    if (name !== null) {
      this.#at += name[0].length;
      return false;
    }
    const flags = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
    if (flags === null) {
      throw this.#error('a group starts with "(", "(?:", "(?P<name>" or flags as "(?i)"; there is no lookaround');
    }
    const [all, on = '', off = '', end] = flags;
    this.#at += all.length;
    const set = (flag: string, before: boolean) => (on.includes(flag) || before) && !off.includes(flag);
    const { ignoreCase, lines, dotAll, swapped } = this.#flags;
    this.#flags = {
      ignoreCase: set('i', ignoreCase),
      lines: set('m', lines),
      dotAll: set('s', dotAll),
      swapped: set('U', swapped),
    };
    return end === ')';
  }

  #class(): CharSet {
    const negated = this.#take('^');
    const ranges: Range[] = [];
    const sets: CharSet[] = [];
    for (let first = true; first || this.#peek() !== ']'; first = false) {
      if (this.#at >= this.#source.length) throw this.#error('"[" has no matching "]"');
      const low = this.#classItem();
      if (typeof low !== 'number') {
        sets.push(low);
      } else if (this.#peek() === '-' && this.#source.charAt(this.#at + 1) !== ']') {
        this.#at++;
        const high = this.#at < this.#source.length ? this.#classItem() : Number.NaN;
        if (typeof high !== 'number' || !(high >= low))
          throw this.#error('a range runs from a lower to a higher character');
        ranges.push([low, high]);
      } else {
        ranges.push([low, low]);
      }
    }
    this.#at++;
    if (ranges.length > 0) sets.push(rangesSet(ranges, this.#flags.ignoreCase));
    const union = unionSet(sets);
    return negated ? complementSet(union) : union;
  }

  #classItem(): number | CharSet {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.#source.slice(this.#at, this.#at + 16));
    if (posix !== null) {
      const set = posixSets.get(posix[2] ?? '');
      if (set === undefined) throw this.#error(`there is no class "${posix[0]}"`);
      this.#at += posix[0].length;
      return posix[1] === '^' ? complementSet(set) : set;
    }
    return this.#peek() === '\\' ? this.#escape() : this.#next();
  }

  /** An escape: one character, or a class of characters. */
  #escape(): number | CharSet {
    this.#at++;
    if (this.#at >= this.#source.length) throw this.#error('a pattern must not end with "\\"');
    const char = this.#peek();
    const perl = perlSets[char.toLowerCase()];
    if (perl !== undefined) {
      this.#at++;
      return char === char.toLowerCase() ? perl : complementSet(perl);
    }
    if (char === 'p' || char === 'P') return this.#unicodeClass();
    const hex = /^x(?:\{([\da-f]{1,6})\}|([\da-f]{2}))/i.exec(this.#source.slice(this.#at, this.#at + 9));
    const code = hex === null ? controls[char] : Number.parseInt(hex[1] ?? hex[2] ?? '', 16);
    if (code !== undefined && code <= 0x10_ffff) {
      this.#at += hex?.[0].length ?? 1;
      return code;
    }
    if (/^[A-Za-z0-9]/.test(char)) throw this.#error(`there is no "\\${char}"; backreferences are not available`);
    return this.#next();
  }

  #unicodeClass(): CharSet {
    const written = /^([pP])(?:\{(\^?)(\w+)\}|([A-Z]))/.exec(this.#source.slice(this.#at, this.#at + 64));
    const name = written?.[3] ?? written?.[4] ?? '';
    const set = unicodeSet(name, this.#flags.ignoreCase);
    if (written === null || set === undefined)
      throw this.#error('there is no such Unicode class; use one as "\\p{Lu}"');
    this.#at += written[0].length;
    return (written[1] === 'P') === (written[2] === '^') ? set : complementSet(set);
  }

  #peek(): string {
    return this.#source.charAt(this.#at);
  }

  #next(): number {
    const code = this.#source.codePointAt(this.#at) ?? 0;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #error(message: string): PatternError {
    return new PatternError(`${message} (character ${this.#at + 1} of the pattern)`);
  }
}
