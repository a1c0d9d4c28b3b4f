import { replayLog } from './audit/index.ts';
import { BalanceKeeper, BalanceRecovery } from './budget/index.ts';
import type { Governance } from './governance.ts';
import type { OpsLog } from './ops/index.ts';
import { OpsRecovery } from './ops/index.ts';
import type { Snapshot } from './store.ts';

/** Where there are no saved balances yet. */
export const noBalancesMark = { seq: 0, timeZone: 'UTC' };

type Recovered = Pick<Snapshot, 'balances' | 'balancesMark' | 'ops' | 'opsReplayFrom'>;

/** Restores balances and operations from their rows and from the log, which is read once for both. */
export async function recover(gov: Governance, snapshot: Recovered, log: OpsLog): Promise<BalanceKeeper> {
  const mark = snapshot.balancesMark ?? noBalancesMark;
  const balances = new BalanceRecovery(snapshot.balances, mark);
  const { opsReplayFrom } = snapshot;
  const ops = opsReplayFrom === null ? undefined : new OpsRecovery(gov, snapshot.ops, opsReplayFrom);
  await replayLog(log, ops === undefined ? [balances] : [balances, ops]);
  for (const balance of balances.fold.all()) gov.ledger.restore(balance);
  await ops?.finish(log);
  return new BalanceKeeper(gov, balances.fold, mark.seq);
}
