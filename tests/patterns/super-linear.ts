import type { AST } from '@eslint-community/regexpp';
import { RegExpParser } from '@eslint-community/regexpp';
import type { Fragment } from './automaton.ts';
import { Automaton, nothing } from './automaton.ts';

/** More repetitions than this count as any number. */
const fewRepetitions = 1024;

/** Why a backtracking engine may take more than linear time for this pattern, or undefined if it does not. */
export function superLinear(source: string, flags: string): string | undefined {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const reading = new PatternReading(source, flags);
  const { automaton } = reading;
  const whole = reading.alternatives(pattern.alternatives);
  automaton.end(whole);
  // A search tries every place of the text, as if the pattern began with any text.
  if (!flags.includes('y')) automaton.search(whole);
  return reading.doubt ?? automaton.ambiguity();
}

/** Makes a pattern into an automaton. */
class PatternReading {
  readonly automaton: Automaton;
  doubt: string | undefined;
  readonly #isMultiline: boolean;
  readonly #flags: string;

  constructor(source: string, flags: string) {
    this.automaton = new Automaton(source, /[uv]/.test(flags));
    this.#isMultiline = flags.includes('m');
    this.#flags = flags.replaceAll(/[gymd]/g, '');
  }

  alternatives(alternatives: readonly AST.Alternative[]): Fragment {
    const parts = alternatives.map(({ elements }) =>
      elements
        .map((element) => this.#element(element))
        .reduce((left, right) => this.automaton.joined(left, right), nothing),
    );
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      emptyAfter: parts.reduce((sum, { emptyAfter }) => sum | emptyAfter, 0n),
    };
  }

  #element(element: AST.Element): Fragment {
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        return this.automaton.one(this.#readBy(element.raw));
      case 'Group':
      case 'CapturingGroup':
        return this.alternatives(element.alternatives);
      case 'Quantifier':
        return this.#repeated(element);
      case 'Backreference':
        return this.#again(element);
      case 'Assertion':
        return this.#assertion(element);
    }
  }

  #readBy(raw: string): bigint {
    const one = new RegExp(`^(?:${raw})$`, this.#flags);
    return this.automaton.reading((sample) => one.test(sample));
  }

  /** What a group of a bounded length took is as good as the group itself. */
  #again({ resolved }: AST.Backreference): Fragment {
    const groups = Array.isArray(resolved) ? resolved : [resolved];
    if (groups.some(({ raw }) => mayLoop(raw))) this.doubt ??= 'it refers back to a text of any length';
    return this.alternatives(groups.flatMap((group) => group.alternatives));
  }

  #assertion(element: AST.Assertion): Fragment {
    const { automaton } = this;
    switch (element.kind) {
      case 'start':
        return { ...nothing, emptyAfter: this.#isMultiline ? this.#readBy('[\\n\\r\\u2028\\u2029]') : 0n };
      case 'end':
        return automaton.one(automaton.endOfText | (this.#isMultiline ? this.#readBy('[\\n\\r\\u2028\\u2029]') : 0n));
      case 'word':
        return nothing;
      case 'lookahead':
        // Reading ahead is a way of its own, which leads nowhere.
        return { first: this.alternatives(element.alternatives).first, last: [], emptyAfter: automaton.everything };
      case 'lookbehind': {
        if (mayLoop(element.raw)) this.doubt ??= 'it looks behind for a text of any length';
        const single = /^\(\?<[!=](\[(?:\\.|[^\]\\])+\]|\\?.)\)$/s.exec(element.raw)?.[1];
        if (single === undefined) return nothing;
        const reads = this.#readBy(single);
        return { ...nothing, emptyAfter: element.negate ? automaton.everything & ~reads : reads };
      }
    }
  }

  #repeated({ element, min, max }: AST.Quantifier): Fragment {
    const { automaton } = this;
    if (max === 0) return nothing;
    const isLoop = max > fewRepetitions;
    // Two copies show what more of them would show.
    const copies = Math.min(Math.max(min, isLoop ? 1 : max), 2);
    const parts = Array.from({ length: copies }, (_, nth): Fragment => {
      const part = this.#element(element);
      return nth < min ? part : { ...part, emptyAfter: automaton.everything };
    });
    const last = parts.at(-1);
    if (isLoop && last !== undefined) automaton.follow(last.last, last.first);
    return parts.reduce((left, right) => automaton.joined(left, right), nothing);
  }
}

function mayLoop(raw: string): boolean {
  return /[*+]|,\}/.test(raw.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gs, ''));
}
