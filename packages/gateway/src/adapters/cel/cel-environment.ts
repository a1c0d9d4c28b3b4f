import type { ASTNode } from '@marcbachmann/cel-js';
import { Environment, ParseError, TypeError as TypeProblem } from '@marcbachmann/cel-js';
import { ConditionError } from '@reeve/core';
import type { ConditionLimits } from './condition-limits.ts';
import type { ConditionOn } from './fact-members.ts';
import { schemaOf } from './fact-members.ts';

/** A node of the parser. */
export type CelNode = ASTNode;

/** A condition that could be parsed; `check` checks its types. Both steps throw a `ConditionError`. */
export interface ParsedCondition {
  readonly root: CelNode;
  /** The type of its value. */
  check(): string;
}

/**
 * The one file that knows the CEL library, which parses and checks types. The closures of `build-closure.ts` evaluate:
 * evaluation must be bounded and must treat what agents send as data only.
 */
export function celParser(limits: ConditionLimits, on: ConditionOn): (source: string) => ParsedCondition {
  const environment = environmentOf(limits);
  if (on === 'result') environment.registerVariable('result', 'dyn').registerVariable('result_text', 'string');
  return (source) => {
    if (source.length > limits.length) {
      throw new ConditionError(`a condition may have ${limits.length} characters`, limits.length);
    }
    return guarded(source, () => {
      const parsed = environment.parse(source);
      return { root: parsed.ast, check: () => guarded(source, () => typeOf(parsed.check())) };
    });
  };
}

function environmentOf(limits: ConditionLimits): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: limits.parts,
      maxDepth: limits.depth,
      maxListElements: limits.parts,
      maxMapEntries: limits.parts,
    },
  })
    .registerVariable('args', 'dyn')
    .registerVariable('now', 'google.protobuf.Timestamp')
    .registerVariable({ name: 'agent', schema: schemaOf('agent') })
    .registerVariable({ name: 'action', schema: schemaOf('action') })
    .registerVariable({ name: 'run', schema: schemaOf('run') })
    .registerVariable({ name: 'spend', schema: schemaOf('spend') })
    .registerVariable({ name: 'user', schema: schemaOf('user') });
  // JSON has doubles only, and nobody writes 1.0 where 1 will do. So ints and doubles mix everywhere.
  for (const operator of ['+', '-', '*', '/', '%']) {
    environment.registerOperator(`int ${operator} double: double`, neverRun);
    environment.registerOperator(`double ${operator} int: double`, neverRun);
  }
  return environment
    .registerFunction('matches(string, string): bool', neverRun)
    .registerFunction('int(google.protobuf.Timestamp): int', neverRun)
    .registerFunction('string(google.protobuf.Timestamp): string', neverRun)
    .registerFunction('string(google.protobuf.Duration): string', neverRun)
    .registerOperator('double % double: double', neverRun)
    .registerOperator('int == double', neverRun)
    .registerOperator('int in list<double>', neverRun)
    .registerOperator('double in list<int>', neverRun);
}

/** The library only checks types. */
function neverRun(): never {
  throw new Error('the library does not evaluate');
}

function typeOf(result: { valid: boolean; type?: string; error?: unknown }): string {
  if (!result.valid) throw result.error;
  return result.type ?? 'dyn';
}

function guarded<Result>(source: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ParseError || error instanceof TypeProblem) {
      throw new ConditionError(inOurWords(error.code, error.summary), error.range?.start ?? 0);
    }
    if (error instanceof Error && error.message.includes(' overlaps with ')) {
      throw new ConditionError('the type of "[]" or "{}" cannot be told here; compare with something else', 0);
    }
    // The parser recurses along some chains without counting.
    if (error instanceof RangeError) throw new ConditionError('the condition is nested too deeply', source.length - 1);
    throw error;
  }
}

function inOurWords(code: string, summary: string): string {
  const plain = summary
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('google.protobuf.Duration', 'duration')
    .replaceAll(/\$(\w+)/g, '$1');
  switch (code) {
    case 'no_such_overload':
      return `there is no operator for "${plain.replace(/^no such overload: /, '')}"`;
    case 'no_matching_overload':
      return `there is no function "${plain.replace(/^found no matching overload for '(.*)'$/, '$1')}"`;
    case 'limit_exceeded':
      return plain.includes('maxDepth') ? 'the condition is nested too deeply' : 'the condition has too many parts';
    case 'unexpected_token':
    case 'expected_token':
      return plain.replace(/^(U|E)/, (letter) => letter.toLowerCase()).replaceAll(/[A-Z]{2,}/g, tokenInWords);
    default:
      return plain.charAt(0).toLowerCase() + plain.slice(1);
  }
}

const tokens: Readonly<Record<string, string>> = {
  EOF: 'the end',
  RPAREN: '")"',
  RBRACKET: '"]"',
  RBRACE: '"}"',
  COLON: '":"',
  COMMA: '","',
  IDENTIFIER: 'a name',
};

function tokenInWords(token: string): string {
  return tokens[token] ?? token.toLowerCase();
}
