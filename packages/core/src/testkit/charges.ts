import { tiersOf } from '../budget/tier.ts';
import type { Approached } from '../budget/cap-rule.ts';
import type { Delta, Ledger } from '../budget/ledger.ts';
import type { Undo } from '../journal/meaning.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { Micros } from '../kernel/money.ts';

/** What a test charged: how to take it back, which shares of caps it used up, and the day it was booked to. */
export interface Charged {
  readonly undo: Undo;
  readonly approached: readonly Approached[];
  readonly day: string;
}

export function reserve(ledger: Ledger, agent: AgentId, cost: Micros): Charged {
  return charge(ledger, agent, { reserved: cost, settled: { day: 0, month: 0 } });
}

export function settle(ledger: Ledger, agent: AgentId, reserved: Micros, actual: Micros): Charged {
  return charge(ledger, agent, { reserved: -reserved, settled: { day: actual, month: actual } });
}

export function release(ledger: Ledger, agent: AgentId, reserved: Micros): Undo {
  return reserve(ledger, agent, -reserved).undo;
}

/** Changes balances as the facts of operations do. */
function charge(ledger: Ledger, agent: AgentId, delta: Delta): Charged {
  const { balances, bookedTo: day } = ledger;
  const approached = ledger.approachedBy(tiersOf(agent), delta);
  const undos = approached.map(({ of, period, percent }) => balances.notice(of, period, percent, day));
  undos.push(balances.reserve(tiersOf(agent), delta.reserved));
  if (delta.settled.day !== 0) undos.push(balances.settle(tiersOf(agent), delta.settled.day, day));
  const undo = () => {
    for (const each of undos.toReversed()) each();
  };
  return { undo, approached, day };
}
