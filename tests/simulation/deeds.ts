import { adminDeeds } from './admin-deeds.ts';
import { agentDeeds } from './agent-deeds.ts';
import { controlDeeds } from './control-deeds.ts';
import { delegationDeeds } from './delegation-deeds.ts';
import type { Deed } from './deed.ts';
import { housekeepingDeeds } from './housekeeping-deeds.ts';
import { resultDeeds } from './result-deeds.ts';
import { runDeeds } from './run-deeds.ts';

/** Everything that happens at a gateway. */
export const deeds: readonly Deed[] = [
  ...agentDeeds,
  ...delegationDeeds,
  ...controlDeeds,
  ...adminDeeds,
  ...housekeepingDeeds,
  ...runDeeds,
  ...resultDeeds,
];
