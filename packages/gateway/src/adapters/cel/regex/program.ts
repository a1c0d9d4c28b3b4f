import type { CharSet } from './char-set.ts';
import type { Assertion, Pattern } from './pattern.ts';
import { assertions, PatternError } from './pattern.ts';

type Instruction =
  /** Takes one character that is in the set. */
  | { readonly kind: 'take'; readonly set: number; readonly next: number }
  | { readonly kind: 'assert'; readonly assertion: Assertion; readonly next: number }
  /** Continues both ways, and prefers `next`. */
  | { readonly kind: 'fork'; readonly next: number; readonly other: number }
  | { readonly kind: 'match' };

/** The operations of instructions, and their arguments. */
export const operation = {
  match: 0,
  /** Takes one character that is in the set. */
  take: 1,
  /** Requires an assertion, given by its index in `assertions`. */
  assert: 2,
  /** Continues both at the next place and at its argument. */
  fork: 3,
} as const;

/**
 * A pattern as instructions of an automaton that follows all ways at once. They are kept small, because a tenant may
 * store very many patterns.
 */
export interface Program {
  /** The number of instructions. */
  readonly size: number;
  /** For each instruction: its operation plus four times its argument, then the next place. */
  readonly code: Uint16Array;
  readonly start: number;
  readonly sets: readonly CharSet[];
}

/** The limit for one pattern. It makes arguments and places fit into 14 bits. */
export const mostInstructions = 2000;
/** Repetitions of nothing add no instructions, but take time. */
const mostVisits = 20_000;

export function programOf(pattern: Pattern): Program {
  const builder = new ProgramBuilder();
  const start = builder.build(pattern, builder.add({ kind: 'match' }));
  const { instructions, sets } = builder;
  return { size: instructions.length, code: codeOf(instructions), start, sets };
}

function codeOf(instructions: readonly Instruction[]): Uint16Array {
  const code = new Uint16Array(2 * instructions.length);
  for (const [at, instruction] of instructions.entries()) {
    code[2 * at] = operation[instruction.kind] + 4 * argumentOf(instruction);
    code[2 * at + 1] = instruction.kind === 'match' ? 0 : instruction.next;
  }
  return code;
}

function argumentOf(instruction: Instruction): number {
  switch (instruction.kind) {
    case 'match':
      return 0;
    case 'take':
      return instruction.set;
    case 'assert':
      return assertions.indexOf(instruction.assertion);
    case 'fork':
      return instruction.other;
  }
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

  /** Returns the place where the automaton must start to match the pattern and continue at `next`. */
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
        return this.#buildRepeat(pattern, next);
    }
  }

  #buildRepeat({ part, least, most, lazy }: Pattern & { readonly kind: 'repeat' }, next: number): number {
    const fork = (once: number): Instruction =>
      lazy ? { kind: 'fork', next, other: once } : { kind: 'fork', next: once, other: next };
    let entry = next;
    if (most === Number.POSITIVE_INFINITY) {
      entry = this.add({ kind: 'match' });
      this.instructions[entry] = fork(this.build(part, entry));
    } else {
      for (let count = least; count < most; count++) entry = this.add(fork(this.build(part, entry)));
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
