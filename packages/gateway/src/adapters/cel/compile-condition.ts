import type { CompileValue, Condition, ConditionAuthor, Facts, ResultCondition, ValueExpression } from '@reeve/core';
import { ConditionError, Evaluation, subjectOf } from '@reeve/core';
import { buildClosure } from './build-closure.ts';
import { celParser } from './cel-environment.ts';
import type { Closure } from './closure.ts';
import type { ConditionLimits } from './condition-limits.ts';
import { defaultLimits } from './condition-limits.ts';
import type { Expression } from './expression.ts';
import { partsOf, sizeOf } from './expression.ts';
import type { ConditionOn } from './fact-members.ts';
import { fault } from './faults.ts';
import { Frame } from './frame.ts';
import { requireNoGlobalSpend } from './global-spend.ts';
import { jsonOf } from './json-of.ts';
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

/** Compiles an expression of a `rewrite`, whose value becomes a member of the arguments. */
export function valueCompiler(limits: Partial<ConditionLimits> = {}): CompileValue {
  const compile = expressionCompiler('call', limits);
  return (source, author) => {
    const { run, type, instructions } = compile(source, author);
    if (inNoJson.has(type)) throw wrongType(`JSON has no value of type ${type.replace(/^.*\./, '').toLowerCase()}`);
    const expression: ValueExpression = (facts, evaluation, depth) => {
      const frame = new Frame(facts, evaluation);
      return jsonOf(frame, run(frame), depth);
    };
    return instructions === 0 ? expression : Object.assign(expression, { instructions });
  };
}

const inNoJson = new Set(['google.protobuf.Timestamp', 'google.protobuf.Duration', 'type']);

function compilerOn(
  on: ConditionOn,
  limits: Partial<ConditionLimits>,
): (source: string, author?: ConditionAuthor) => Condition {
  const { cost } = { ...defaultLimits, ...limits };
  const compile = expressionCompiler(on, limits);
  return (source, author) => {
    const { run, type, instructions, readsLabels: reads } = compile(source, author);
    if (type !== 'bool' && !type.startsWith('dyn')) {
      throw wrongType(`a condition must be true or false, and this is of type ${type}`);
    }
    const condition: Condition = (
      facts: Facts,
      evaluation = new Evaluation(subjectOf(facts.action, facts.user()), cost),
    ) => {
      const value = run(new Frame(facts, evaluation));
      if (typeof value !== 'boolean') throw fault(`a condition must be true or false, and this is ${described(value)}`);
      return value;
    };
    return Object.assign(
      condition,
      instructions === 0 ? {} : { instructions },
      reads ? { readsLabels: true as const } : {},
    );
  };
}

function wrongType(message: string): ConditionError {
  return placed(new ConditionError(message, 0), '');
}

interface CompiledExpression {
  readonly run: Closure;
  /** As the checker of types names it. */
  readonly type: string;
  readonly instructions: number;
  readonly readsLabels: boolean;
}

function expressionCompiler(
  on: ConditionOn,
  limits: Partial<ConditionLimits>,
): (source: string, author?: ConditionAuthor) => CompiledExpression {
  const all = { ...defaultLimits, ...limits };
  const parse = celParser(all, on);
  return (source, author = 'operator') => {
    try {
      const parsed = parse(source);
      const tree = readTree(parsed.root, on);
      if (author === 'tenant') requireNoGlobalSpend(tree);
      const instructions = countInstructions(tree, all.instructions);
      const evaluate = buildClosure(tree);
      const price = priceOfStart + sizeOf(tree);
      const run: Closure = (frame) => {
        frame.charge(price);
        return evaluate(frame);
      };
      return { run, type: parsed.check(), instructions, readsLabels: readsLabels(tree) };
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
