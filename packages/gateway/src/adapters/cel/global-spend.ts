import { ConditionError } from '@reeve/core';
import type { Expression } from './expression.ts';
import { partsOf } from './expression.ts';

const secret = 'spend.global';

/**
 * Refuses a condition that looks at what everybody together has spent, in whatever spelling. Names of facts are resolved
 * when a condition is read, and a variable with members is never used whole or by an index that is not written out: so
 * what is not named here is not looked at.
 */
export function requireNoGlobalSpend(tree: Expression): void {
  for (const part of partsOf(tree)) {
    if ((part.kind !== 'fact' && part.kind !== 'hasFact') || !isWithin(part.name)) continue;
    throw new ConditionError(`"${secret}" is the operator's: documents of a tenant do not look at it`, part.offset);
  }
}

function isWithin(name: string): boolean {
  return name === secret || name.startsWith(`${secret}.`);
}
