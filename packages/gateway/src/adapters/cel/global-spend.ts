import { ConditionError } from '@reeve/core';
import type { Expression } from './expression.ts';
import { partsOf } from './expression.ts';

const secret = 'spend.global';

/**
 * Refuses a condition that reads the spend of all tenants together, in any spelling. Names of facts are resolved when a
 * condition is read. A variable with members is never used whole or with a computed index. So a condition reads no fact
 * that is not named here.
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
