import type { StoredEntry } from './audit/index.ts';
import { replayLog } from './audit/index.ts';
import { restoreApprovals } from './approvals/index.ts';
import { BalanceReplay, noBalancesMark } from './budget/index.ts';
import { storedControl } from './control/index.ts';
import { applyFact } from './facts.ts';
import type { Governance } from './governance.ts';
import type { Touch, Unread } from './journal/index.ts';
import { restoring, touchedBy } from './journal/index.ts';
import { agentKey } from './kernel/index.ts';
import type { OpsLog } from './ops/index.ts';
import { OpsReplay } from './ops/index.ts';
import { withWriters } from './policy/index.ts';
import type { Snapshot } from './store.ts';
import { storedTenancy } from './tenancy/index.ts';

/** Restores everything that an empty governance lacks. What of the log cannot be read is handed to `onUnread`. */
export async function recover(
  gov: Governance,
  snapshot: Snapshot,
  log: OpsLog,
  onUnread: (unread: Unread) => void,
): Promise<void> {
  for (const fact of storedTenancy(snapshot)) applyFact(gov, fact, restoring);
  gov.policyRegistry.restore(await withWriters(gov, snapshot.policies));
  await replay(gov, snapshot, log, onUnread);
  if (snapshot.restoredAt !== null) gov.control.countAbove(snapshot.restoredAt);
  for (const fact of storedControl(snapshot)) applyFact(gov, fact, restoring);
  restoreApprovals(gov, snapshot);
}

/** Restores balances and operations from their rows and from the log, which is read once for both. */
async function replay(
  gov: Governance,
  snapshot: Pick<Snapshot, 'balances' | 'balancesMark' | 'ops' | 'opsReplayFrom'>,
  log: OpsLog,
  onUnread: (unread: Unread) => void,
): Promise<void> {
  const mark = snapshot.balancesMark ?? noBalancesMark;
  const balances = new BalanceReplay(snapshot.balances, mark);
  const { opsReplayFrom } = snapshot;
  const ops = opsReplayFrom === null ? undefined : new OpsReplay(gov, snapshot.ops, opsReplayFrom);
  await replayLog(log, ops === undefined ? [balances] : [balances, ops], (stored) => onUnread(unreadEntry(stored)));
  for (const { of, sums } of balances.fold.balances.all()) gov.ledger.balances.restore(of, sums);
  await ops?.finish(log);
  gov.balances.restore(balances.fold, mark.seq);
}

/** The lineage of an entry says whose it is, if that much of it can be read. */
function unreadEntry({ seq, canonical }: StoredEntry): Unread {
  return { touched: touchedBy(ownerOf(canonical)), why: `entry ${seq} of the audit log cannot be read` };
}

function ownerOf(canonical: string): Touch {
  try {
    const [, text = ''] = /,"lineage":(\{[^{}]*\}),"op_id":/.exec(canonical) ?? [];
    const { agent_id: agentId, org_id: orgId, team_id: teamId } = JSON.parse(text) as Readonly<Record<string, string>>;
    if (agentId !== undefined && teamId !== undefined && agentId !== '') {
      return { agent: agentKey({ orgId: orgId ?? '', teamId, agentId }) };
    }
    return orgId == null ? 'everything' : { org: orgId };
  } catch {
    return 'everything';
  }
}
