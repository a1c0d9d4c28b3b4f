import type { Condition, ConditionAuthor, Facts, ResultCondition } from '@reeve/core';
import { ConditionError, Evaluation, subjectOf } from '@reeve/core';
import { buildClosure } from './build-closure.ts';
import { celParser } from './cel-environment.ts';
import type { ConditionLimits } from './condition-limits.ts';
import { defaultLimits } from './condition-limits.ts';
import type { Expression } from './expression.ts';
import { partsOf, sizeOf } from './expression.ts';
import type { ConditionOn } from './fact-members.ts';
import { fault } from './faults.ts';
import { Frame } from './frame.ts';
import { requireNoGlobalSpend } from './global-spend.ts';
import { instructionsIn } from './matches.ts';
import { readTree } from './read-tree.ts';
import { described } from './values.ts';

/**
 * Compiles the text of a `when`, a CEL expression. Loading a policy checks all that can be known by then, and throws a
 * `ConditionError`. A condition that has no value for the given facts throws when it is evaluated.
 */
export function conditionCompiler(
  limits: Partial<ConditionLimits> = {},
): (source: string, author?: ConditionAuthor) => Condition {
  return compilerOn('call', limits);
}

/** The same for rules on results, which also see what came back. */
export function resultConditionCompiler(): (source: string, author?: ConditionAuthor) => ResultCondition {
  return compilerOn('result', {});
}

function compilerOn(
  on: ConditionOn,
  limits: Partial<ConditionLimits>,
): (source: string, author?: ConditionAuthor) => Condition {
  const all = { ...defaultLimits, ...limits };
  const parse = celParser(all, on);
  return (source, author = 'operator') => {
    try {
      const parsed = parse(source);
      const tree = readTree(parsed.root, on);
      if (author === 'tenant') requireNoGlobalSpend(tree);
      const instructions = countInstructions(tree, all.instructions);
      const run = buildClosure(tree);
      const price = priceOfStart + sizeOf(tree);
      const type = parsed.check();
      if (type !== 'bool' && !type.startsWith('dyn')) {
        throw new ConditionError(`a condition must be true or false, and this is of type ${type}`, 0);
      }
      const condition: Condition = (
        facts: Facts,
        evaluation = new Evaluation(subjectOf(facts.action, facts.user()), all.cost),
      ) => {
        const frame = new Frame(facts, evaluation);
        frame.charge(price);
        const value = run(frame);
        if (typeof value !== 'boolean')
          throw fault(`a condition must be true or false, and this is ${described(value)}`);
        return value;
      };
      return Object.assign(
        condition,
        instructions === 0 ? {} : { instructions },
        readsLabels(tree) ? { readsLabels: true as const } : {},
      );
    } catch (error) {
      throw error instanceof ConditionError ? placed(error, source) : error;
    }
  };
}

/** Names of facts are resolved when a condition is read, so it reads no others. */
function readsLabels(tree: Expression): boolean {
  for (const part of partsOf(tree)) if (part.kind === 'fact' && part.name === 'run.labels') return true;
  return false;
}

/** The fixed cost of a condition, before its parts. */
const priceOfStart = 15;

/** A short pattern may become very many instructions. The parser bounds each pattern; this bounds their sum. */
function countInstructions(tree: Expression, most: number): number {
  let found = 0;
  for (const part of partsOf(tree)) {
    const pattern = part.kind === 'call' && part.name === 'matches' ? part.operands.at(-1) : undefined;
    if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string') continue;
    found += instructionsIn(pattern.value);
    if (found > most) throw new ConditionError('the patterns of the condition are too large together', pattern.offset);
  }
  return found;
}

/** Adds the line and column to the message, for people; programs read the offset. */
function placed({ message, offset }: ConditionError, source: string): ConditionError {
  const before = source.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return new ConditionError(`${message} (line ${line}, column ${column} of the expression)`, offset);
}
