import type { CallOperation } from './settlement.ts';

/** Stands for the operation of a call that is not checked, because no gateway answers. */
export function ungoverned(): CallOperation {
  return {
    state: 'running',
    signal: new AbortController().signal,
    checkpoint: async () => {},
    used: () => {},
    spent: () => {},
    ended: () => {},
    note: () => {},
  };
}
