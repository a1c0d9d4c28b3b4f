import { ConditionError } from '@reeve/core';
import type { ConditionAuthor, Facts } from '@reeve/core';
import { buildClosure } from './build-closure.ts';
import { celParser } from './cel-environment.ts';
import type { ConditionLimits } from './condition-limits.ts';
import { defaultLimits } from './condition-limits.ts';
import { fault } from './faults.ts';
import { Frame } from './frame.ts';
import { requireNoGlobalSpend } from './global-spend.ts';
import { readTree } from './read-tree.ts';
import { described } from './values.ts';

/**
 * Compiles the text of a `when`, an expression of CEL. All that can be known when a policy is loaded is checked then,
 * and told in a `ConditionError`; a condition that has no value for the facts at hand throws.
 */
export function conditionCompiler(
  limits: Partial<ConditionLimits> = {},
): (source: string, author?: ConditionAuthor) => (facts: Facts) => boolean {
  const all = { ...defaultLimits, ...limits };
  const parse = celParser(all);
  return (source, author = 'operator') => {
    try {
      const parsed = parse(source);
      const tree = readTree(parsed.root);
      if (author === 'tenant') requireNoGlobalSpend(tree);
      const run = buildClosure(tree);
      const type = parsed.check();
      if (type !== 'bool' && !type.startsWith('dyn')) {
        throw new ConditionError(`a condition must be true or false, and this is of type ${type}`, 0);
      }
      return (facts) => {
        const value = run(new Frame(facts, all.cost));
        if (typeof value !== 'boolean')
          throw fault(`a condition must be true or false, and this is ${described(value)}`);
        return value;
      };
    } catch (error) {
      throw error instanceof ConditionError ? placed(error, source) : error;
    }
  };
}

/** Says in words what the offset says to programs. */
function placed({ message, offset }: ConditionError, source: string): ConditionError {
  const before = source.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return new ConditionError(`${message} (line ${line}, column ${column} of the expression)`, offset);
}
