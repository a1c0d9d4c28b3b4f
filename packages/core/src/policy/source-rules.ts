import { SourceGlobs } from './host-glob.ts';
import type { CompileCondition, Condition, PolicyFeatures } from './condition.ts';
import { ConditionError } from './condition.ts';
import type { Glob } from '../kernel/glob.ts';
import type { Dimension } from './subject.ts';

/** How many rules one source may hold, in all of its documents; one that is repeated by an alias counts each time. */
export const mostRules = 2000;

/**
 * How many instructions all patterns of one source may become. A pattern of a few characters may become 2,000, which
 * are kept as long as the source is in force.
 */
export const mostInstructions = 100_000;

/** What the rules of one source share, whichever document they stand in. */
export class SourceRules {
  readonly #compile: CompileCondition | undefined;
  readonly #compiled = new Map<string, () => Condition>();
  readonly #globs = new SourceGlobs();
  readonly #mostInstructions: number;
  #left: number;
  #instructions = 0;

  constructor(features: PolicyFeatures) {
    this.#compile = features.compileCondition;
    this.#left = features.mostRules ?? mostRules;
    this.#mostInstructions = features.mostInstructions ?? mostInstructions;
  }

  get knowsConditions(): boolean {
    return this.#compile !== undefined;
  }

  /** How many instructions the patterns of all conditions have become. */
  get instructions(): number {
    return this.#instructions;
  }

  /** Counts rules; whether there may be so many. */
  take(rules: number): boolean {
    this.#left -= rules;
    return this.#left >= 0;
  }

  glob(dimension: Dimension, text: string): Glob {
    return this.#globs.compile(dimension, text);
  }

  /** The same text is compiled once, and is wrong in the same way each time. */
  compile(text: string): Condition | undefined {
    const known = this.#compiled.get(text) ?? this.#attempt(text);
    this.#compiled.set(text, known);
    return known();
  }

  #attempt(text: string): () => Condition {
    try {
      const made = this.#compile?.(text);
      if (made === undefined) throw new Error('conditions are not known here');
      this.#count(made);
      return () => made;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  #count({ instructions = 0 }: Condition): void {
    if (this.#instructions + instructions > this.#mostInstructions) {
      const why = `the patterns of one source become at most ${this.#mostInstructions} instructions together`;
      throw new ConditionError(`${why}; count fewer repetitions in them, or divide the source`, 0);
    }
    this.#instructions += instructions;
  }
}
