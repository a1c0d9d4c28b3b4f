import type { Glob } from '../kernel/index.ts';
import type { Condition, FindPattern, PolicyFeatures, ResultCondition, ValueExpression } from './condition.ts';
import { ConditionError } from './condition.ts';
import { SourceGlobs } from './host-glob.ts';
import type { Dimension } from './subject.ts';

/** How many rules one source may hold, in all of its documents. A rule repeated by an alias counts each time. */
export const mostRules = 2000;

/**
 * How many instructions all patterns of one source may become. A pattern of a few characters may become 2,000, which
 * stay in memory as long as the source is in force.
 */
export const mostInstructions = 100_000;

/** How many members all rules of one source may rewrite. */
export const mostRewritings = 2000;

/** What the rules of one source share, across its documents. */
export class SourceRules {
  readonly #calls: Compiler<Condition>;
  readonly #results: Compiler<ResultCondition>;
  readonly #patterns: Compiler<FindPattern>;
  readonly #values: Compiler<ValueExpression>;
  readonly #globs = new SourceGlobs();
  readonly #mostInstructions: number;
  #left: number;
  #rewritingsLeft = mostRewritings;
  #instructions = 0;

  constructor(features: PolicyFeatures) {
    this.#left = features.mostRules ?? mostRules;
    this.#mostInstructions = features.mostInstructions ?? mostInstructions;
    const count = (instructions: number) => this.#count(instructions);
    this.#calls = new Compiler(features.compileCondition, count);
    this.#results = new Compiler(features.compileResultCondition, count);
    this.#patterns = new Compiler(features.compilePattern, count);
    this.#values = new Compiler(features.compileValue, count);
  }

  /** Whether rules on these may have conditions. */
  knowsConditions(on: 'call' | 'result'): boolean {
    return on === 'call' ? this.#calls.isKnown : this.#results.isKnown;
  }

  get knowsPatterns(): boolean {
    return this.#patterns.isKnown;
  }

  get knowsValues(): boolean {
    return this.#values.isKnown;
  }

  /** How many instructions the patterns of all expressions and masks became. */
  get instructions(): number {
    return this.#instructions;
  }

  /** Counts rules, and returns whether so many are allowed. */
  take(rules: number): boolean {
    this.#left -= rules;
    return this.#left >= 0;
  }

  /** The same for members that are rewritten. */
  takeRewritings(members: number): boolean {
    this.#rewritingsLeft -= members;
    return this.#rewritingsLeft >= 0;
  }

  glob(dimension: Dimension, text: string): Glob {
    return this.#globs.compile(dimension, text);
  }

  condition(text: string): Condition {
    return this.#calls.compile(text);
  }

  resultCondition(text: string): ResultCondition {
    return this.#results.compile(text);
  }

  pattern(text: string): FindPattern {
    return this.#patterns.compile(text);
  }

  value(text: string): ValueExpression {
    return this.#values.compile(text);
  }

  #count(instructions: number): void {
    if (this.#instructions + instructions > this.#mostInstructions) {
      const why = `the patterns of one source become at most ${this.#mostInstructions} instructions together`;
      throw new ConditionError(`${why}; count fewer repetitions in them, or divide the source`, 0);
    }
    this.#instructions += instructions;
  }
}

/** Compiles each text once. The same text fails in the same way each time. */
class Compiler<Compiled extends { readonly instructions?: number }> {
  readonly #compile: ((text: string) => Compiled) | undefined;
  readonly #count: (instructions: number) => void;
  readonly #compiled = new Map<string, () => Compiled>();

  constructor(compile: ((text: string) => Compiled) | undefined, count: (instructions: number) => void) {
    this.#compile = compile;
    this.#count = count;
  }

  get isKnown(): boolean {
    return this.#compile !== undefined;
  }

  compile(text: string): Compiled {
    const known = this.#compiled.get(text) ?? this.#attempt(text);
    this.#compiled.set(text, known);
    return known();
  }

  #attempt(text: string): () => Compiled {
    try {
      const made = this.#compile?.(text);
      if (made === undefined) throw new Error('it is not known here');
      this.#count(made.instructions ?? 0);
      return () => made;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }
}
