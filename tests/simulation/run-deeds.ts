import type { Deed } from './deed.ts';

/** What gateways do for runs by themselves: they save them, and forget those that were quiet for long. */
export const runDeeds: readonly Deed[] = [
  { name: 'save runs', weight: 1, act: (_, { gov }) => gov.journal.ownTurn(() => gov.runKeeper.save(10)) },
];
