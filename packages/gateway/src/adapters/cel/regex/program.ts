import type { CharSet } from './char-set.ts';
import type { Assertion, Pattern } from './pattern.ts';
import { PatternError } from './pattern.ts';

export type Instruction =
  /** Takes one character that is in the set. */
  | { readonly kind: 'take'; readonly set: number; readonly next: number }
  | { readonly kind: 'assert'; readonly assertion: Assertion; readonly next: number }
  /** Goes both ways. */
  | { readonly kind: 'fork'; readonly next: number; readonly other: number }
  | { readonly kind: 'match' };

/** A pattern as the instructions of a machine that follows all ways at once. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  readonly sets: readonly CharSet[];
}

const mostInstructions = 2000;
/** Repetitions of nothing add no instructions, but take time. */
const mostVisits = 20_000;

export function programOf(pattern: Pattern): Program {
  const builder = new ProgramBuilder();
  const start = builder.build(pattern, builder.add({ kind: 'match' }));
  return { instructions: builder.instructions, start, sets: builder.sets };
}

/** Builds from the end, so that every instruction knows the one that follows. */
class ProgramBuilder {
  readonly instructions: Instruction[] = [];
  readonly sets: CharSet[] = [];
  readonly #places = new Map<string, number>();
  #visits = 0;

  add(instruction: Instruction): number {
    if (this.instructions.length >= mostInstructions) throw new PatternError('the pattern is too large');
    return this.instructions.push(instruction) - 1;
  }

  /** Where the machine has to start to match the pattern and then go on at `next`. */
  build(pattern: Pattern, next: number): number {
    if (++this.#visits > mostVisits) throw new PatternError('the pattern is too large');
    switch (pattern.kind) {
      case 'set':
        return this.add({ kind: 'take', set: this.#placeOf(pattern.set), next });
      case 'assertion':
        return this.add({ kind: 'assert', assertion: pattern.assertion, next });
      case 'sequence':
        return pattern.parts.reduceRight((after, part) => this.build(part, after), next);
      case 'choice':
        return pattern.options
          .map((option) => this.build(option, next))
          .reduceRight((other, option) => this.add({ kind: 'fork', next: option, other }));
      case 'repeat':
        return this.#buildRepeat(pattern.part, pattern.least, pattern.most, next);
    }
  }

  #buildRepeat(part: Pattern, least: number, most: number, next: number): number {
    let entry = next;
    if (most === Number.POSITIVE_INFINITY) {
      entry = this.add({ kind: 'match' });
      this.instructions[entry] = { kind: 'fork', next: this.build(part, entry), other: next };
    } else {
      for (let count = least; count < most; count++) {
        entry = this.add({ kind: 'fork', next: this.build(part, entry), other: next });
      }
    }
    for (let count = 0; count < least; count++) entry = this.build(part, entry);
    return entry;
  }

  #placeOf(set: CharSet): number {
    const known = this.#places.get(set.key);
    if (known !== undefined) return known;
    this.#places.set(set.key, this.sets.length);
    return this.sets.push(set) - 1;
  }
}
