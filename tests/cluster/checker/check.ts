// Decides whether a run of several gateways was right. It shares no code with the product: it reads the rows of the
// audit log, the answers over HTTP, and what clients wrote down.
import type { Caps } from './budgets.ts';
import { addUp } from './budgets.ts';
import type { Followed } from './followers.ts';
import { followerFaults } from './followers.ts';
import type { Seen } from './gateways.ts';
import { gatewayFaults } from './gateways.ts';
import { approvalFaults, lifecycleFaults } from './lifecycle.ts';
import type { Row } from './log.ts';
import { chainFaults, entriesOf } from './log.ts';
import { policyFaults } from './policies.ts';
import type { Told } from './told.ts';
import { toldFaults } from './told.ts';

export interface Evidence {
  readonly rows: readonly Row[];
  readonly head: { readonly seq: number; readonly hash: string };
  readonly caps: Caps;
  readonly told: Told;
  readonly followers: readonly Followed[];
  readonly gateways: readonly Seen[];
}

/** Everything that is wrong, in words. */
export function faultsOf({ rows, head, caps, told, followers, gateways }: Evidence): string[] {
  const entries = entriesOf(rows);
  const books = addUp(entries, caps);
  return [
    ...chainFaults(rows, head),
    ...lifecycleFaults(entries),
    ...approvalFaults(entries),
    ...policyFaults(entries),
    ...books.faults,
    ...toldFaults(told, entries),
    ...followers.flatMap((follower) => followerFaults(follower, entries)),
    ...gatewayFaults(gateways, books),
  ];
}
