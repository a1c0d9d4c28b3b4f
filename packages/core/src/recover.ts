import type { StoredEntry } from './audit/index.ts';
import { replayLog } from './audit/index.ts';
import { restoreApprovals } from './approvals/index.ts';
import { BookingsOfEntries, noBalancesMark } from './budget/index.ts';
import { storedControl } from './control/index.ts';
import { applyFact, redoFact } from './facts.ts';
import type { Governance } from './governance.ts';
import type { Redoing, SavedLater, Touch, Unread } from './journal/index.ts';
import { restoring, touchedBy } from './journal/index.ts';
import { agentKey, SharedTexts } from './kernel/index.ts';
import type { FindReceipts } from './ops/index.ts';
import { OpsOfEntries, RestoredOps } from './ops/index.ts';
import { withWriters } from './policy/index.ts';
import { factsIn, parseCommit } from './replication/index.ts';
import type { KeptFacts, Snapshot, Store } from './store.ts';
import { storedTenancy } from './tenancy/index.ts';

/** What a start reads beside the snapshot. */
export type StoredLog = Pick<Store, 'after' | 'factsAfter'> & { readonly receipts: FindReceipts };

type OnUnread = (unread: Unread) => void;

/**
 * Restores everything that an empty governance lacks. Most rows are written with their facts. Operations and balances are
 * saved later: their rows are true up to a mark, and the facts after it are applied again. What of the log cannot be read
 * is handed to `onUnread`.
 */
export async function recover(gov: Governance, snapshot: Snapshot, log: StoredLog, onUnread: OnUnread): Promise<void> {
  for (const fact of storedTenancy(snapshot)) applyFact(gov, fact, restoring);
  gov.policyRegistry.restore(await withWriters(gov, snapshot.policies));
  await restoreSavedLater(gov, snapshot, log, onUnread);
  if (snapshot.restoredAt !== null) gov.control.countAbove(snapshot.restoredAt);
  for (const fact of storedControl(snapshot)) applyFact(gov, fact, restoring);
  restoreApprovals(gov, snapshot);
}

async function restoreSavedLater(
  gov: Governance,
  snapshot: Snapshot,
  log: StoredLog,
  onUnread: OnUnread,
): Promise<void> {
  const { balances, balancesMark, ops, opsReplayFrom } = snapshot;
  const mark = balancesMark ?? noBalancesMark;
  const texts = new SharedTexts();
  const shared = (text: string) => texts.of(text);
  gov.balances.restore(balances, mark.seq);
  const restored = opsReplayFrom === null ? undefined : new RestoredOps(gov, ops, shared);
  if (snapshot.factsFrom > Math.min(mark.seq, opsReplayFrom ?? Number.POSITIVE_INFINITY)) {
    const bookings = new BookingsOfEntries(gov.balances.saved, mark);
    const followers = [
      bookings,
      ...(restored === undefined ? [] : [new OpsOfEntries(gov, opsReplayFrom ?? 0, restored)]),
    ];
    await replayLog(log, followers, snapshot.factsFrom, (stored) => onUnread(unreadEntry(stored)));
  }
  const findReceipts: FindReceipts = (ids) => log.receipts(ids);
  await restored?.showControls(findReceipts);
  const from = (seq: number) => Math.max(seq, snapshot.factsFrom);
  const marks: Marks = {
    balances: from(mark.seq),
    ...(opsReplayFrom === null ? {} : { ops: from(opsReplayFrom) }),
  };
  await redoFacts(gov, log, marks, shared, onUnread);
  for (const { of, sums } of gov.balances.saved.all()) gov.ledger.balances.restore(of, sums);
  await restored?.finish(findReceipts);
}

/** The entries up to which rows are true. A part without a mark is not restored. */
type Marks = { readonly [Part in SavedLater]?: number };

/** Applies the facts after the marks again, in order. */
async function redoFacts(
  gov: Governance,
  log: StoredLog,
  marks: Marks,
  shared: (text: string) => string,
  onUnread: OnUnread,
): Promise<void> {
  const parts = Object.entries(marks) as [SavedLater, number][];
  const first = Math.min(...parts.map(([, mark]) => mark));
  let position = 0;
  let before = first;
  for (;;) {
    const page = await log.factsAfter(position, first);
    for (const kept of page) {
      redoCommit(gov, kept, parts, { ...restoring, seq: kept.seq, before, shared }, onUnread);
      ({ position, seq: before } = kept);
    }
    if (page.length === 0) return;
  }
}

function redoCommit(
  gov: Governance,
  { seq, text }: KeptFacts,
  parts: readonly (readonly [SavedLater, number])[],
  how: Redoing,
  onUnread: OnUnread,
): void {
  const { steps, unread } = parseCommit(text);
  for (const each of unread) onUnread({ ...each, why: `facts of entry ${seq}: ${each.why}` });
  for (const fact of factsIn(steps)) for (const [part, mark] of parts) if (seq > mark) redoFact(gov, fact, part, how);
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
