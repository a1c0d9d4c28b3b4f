import {
  endLapsedDelegations,
  expireApprovals,
  expireUnchecked,
  followClock,
  forgetEndedDelegations,
  saveUses,
  settleSuspensions,
  sweepOps,
  timeOutControls,
} from '@reeve/core';
import type { Deed } from './deed.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import { settings } from './virtual-gateway.ts';

function inTurn(act: (gateway: VirtualGateway) => unknown): Deed['act'] {
  return (_, gateway) => gateway.gov.journal.ownTurn(() => act(gateway));
}

/** What gateways do by themselves. */
export const housekeepingDeeds: readonly Deed[] = [
  { name: 'sweep', weight: 1, act: inTurn(({ gov }) => sweepOps(gov, 50)) },
  { name: 'save operations', weight: 1, act: inTurn(({ checkpoint }) => checkpoint.step(60)) },
  { name: 'save balances', weight: 1, act: inTurn(({ gov }) => gov.balances.save(10)) },
  { name: 'forget facts', weight: 0.6, act: inTurn((gateway) => gateway.forgetFacts()) },
  { name: 'save rates', weight: 1, act: inTurn(({ gov }) => gov.rateKeeper.save(10)) },
  { name: 'save uses', weight: 0.6, act: inTurn(({ gov }) => saveUses(gov, 50)) },
  { name: 'look for silent agents', weight: 0.6, act: inTurn(({ stale }) => stale.step(50)) },
  { name: 'release reservations', weight: 0.6, act: inTurn(({ reaper }) => reaper.step(50)) },
  {
    name: 'time out controls',
    weight: 1,
    act: inTurn(({ gov, listening }) => timeOutControls(gov, 50, listening)),
  },
  {
    name: 'expire operations',
    weight: 0.6,
    act: inTurn(({ gov, listening }) => expireUnchecked(gov, settings.pendingTtlMs, 50, listening)),
  },
  { name: 'expire approvals', weight: 1, act: (_, { gov }) => expireApprovals(gov, 50) },
  { name: 'settle suspensions', weight: 0.6, act: (_, { gov }) => settleSuspensions(gov) },
  { name: 'end delegations that are over', weight: 1, act: inTurn(({ gov }) => endLapsedDelegations(gov, 20)) },
  { name: 'forget delegations', weight: 0.6, act: inTurn(({ gov }) => forgetEndedDelegations(gov, 20)) },
  { name: 'forget agents that have left', weight: 0.6, act: inTurn(({ leftAgents }) => leftAgents.step(20)) },
  { name: 'follow the clock', weight: 0.4, act: inTurn(({ gov }) => followClock(gov)) },
];
