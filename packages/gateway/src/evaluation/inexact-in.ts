import { inexactNumbersIn } from '@reeve/contract/exact-numbers';
import type { Action } from '@reeve/core';

/** The numbers of an action that nobody can judge, because readers of JSON disagree on them. */
export function inexactIn({ json, annotations }: Action): ReadonlySet<string> {
  const found = inexactNumbersIn(json);
  if (annotations === '') return found;
  const further = inexactNumbersIn(annotations);
  return further.size === 0 ? found : new Set([...found, ...further]);
}
