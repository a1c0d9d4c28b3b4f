import type { StoredEntry } from './audit/index.ts';
import { replayLog } from './audit/index.ts';
import { restoreApprovals } from './approvals/index.ts';
import { BookingsOfEntries, noBalancesMark } from './budget/index.ts';
import { storedControl } from './control/index.ts';
import type { Fact } from './facts.ts';
import { applyFact, redoFact, touchOf } from './facts.ts';
import type { Governance } from './governance.ts';
import type { Applying, SavedLater, Touch, Unread } from './journal/index.ts';
import { factOf, nameOf, restoring, touchedBy } from './journal/index.ts';
import { agentKey, SharedTexts, unquoted } from './kernel/index.ts';
import type { FindReceipts } from './ops/index.ts';
import { OpsOfEntries, RestoredOps } from './ops/index.ts';
import { withWriters } from './policy/index.ts';
import type { Interned } from './replication/index.ts';
import { parseCommit } from './replication/index.ts';
import type { Snapshot, Store } from './store.ts';
import { storedTenancy } from './tenancy/index.ts';

/** What a start reads beside the snapshot. */
export type StoredLog = Pick<Store, 'after' | 'factsAfter'> & { readonly receipts: FindReceipts };

type OnUnread = (unread: Unread) => void;

/**
 * Restores everything that an empty governance lacks. Most rows are written with their facts. Operations, balances, rates and runs
 * are saved later: their rows are true up to a mark, and the facts after it are applied again. What of the log cannot be read
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
  const { balances, balancesMark, factsFrom, ops, opsReplayFrom, ratesMark, runsMark } = snapshot;
  const mark = balancesMark ?? noBalancesMark;
  const texts = new SharedTexts();
  const interned: Interned = {
    text: (text) => texts.of(text),
    agent: (key) => gov.directory.withKey(key)?.record.id,
  };
  gov.balances.restore(balances, mark.seq);
  gov.rateKeeper.restore(snapshot.rates, ratesMark ?? 0);
  gov.runs.restore(snapshot.runs, runsMark ?? 0);
  const restored = opsReplayFrom === null ? undefined : new RestoredOps(gov, ops, interned.text);
  const findReceipts: FindReceipts = (ids) => log.receipts(ids);
  /** Restores from the audit entries in between what no facts say. */
  const fromEntries: FromEntries = async (after, through) => {
    const bookings = new BookingsOfEntries(gov.balances.saved, { ...mark, seq: Math.max(after, mark.seq) });
    const ofOps = restored && new OpsOfEntries(gov, Math.max(after, opsReplayFrom ?? 0), restored);
    const followers = ofOps === undefined ? [bookings] : [bookings, ofOps];
    await replayLog(log, followers, through, (stored) => onUnread(unreadEntry(stored)));
    await restored?.showControls(findReceipts);
  };
  await fromEntries(0, factsFrom);
  const marks: Marks = {
    balances: Math.max(mark.seq, factsFrom),
    rates: Math.max(ratesMark ?? 0, factsFrom),
    runs: Math.max(runsMark ?? 0, factsFrom),
    ops: opsReplayFrom === null ? null : Math.max(opsReplayFrom, factsFrom),
  };
  await redoFacts(gov, log, { marks, interned, fromEntries, onUnread });
  gov.runs.restoreLabels(snapshot.labels, snapshot.forgottenRuns);
  for (const { of, sums } of gov.balances.saved.all()) gov.ledger.balances.restore(of, sums);
  await restored?.finish(findReceipts);
}

type FromEntries = (after: number, through: number) => Promise<void>;

/** The entries up to which rows are true. A part without a mark is not restored. */
type Marks = Readonly<Record<SavedLater, number | null>>;

/** The entry up to which no start needs facts any more. `opsFrom`: the mark of operations, or the head if none are restored. */
export function factsNeededFrom(
  { balances, rateKeeper, runKeeper }: Pick<Governance, 'balances' | 'rateKeeper' | 'runKeeper'>,
  opsFrom: number,
): number {
  const needed: Readonly<Record<SavedLater, number>> = {
    ops: opsFrom,
    balances: balances.neededFrom,
    rates: rateKeeper.neededFrom,
    runs: runKeeper.neededFrom,
  };
  return Math.min(...Object.values(needed));
}

/** What is applied again, and after which entry. */
type Parts = readonly (readonly [part: SavedLater | 'untold', mark: number])[];

interface Redone {
  readonly marks: Marks;
  readonly interned: Interned;
  readonly fromEntries: FromEntries;
  readonly onUnread: OnUnread;
}

/** Whether the entries of a commit say as well what its facts say. */
const isInEntries: Readonly<Record<SavedLater, boolean>> = { ops: true, balances: true, rates: false, runs: false };

/** Applies the facts after the marks again, in order. Where the facts of a commit cannot all be read, its entries count. */
async function redoFacts(gov: Governance, log: StoredLog, redone: Redone): Promise<void> {
  const { marks, interned, fromEntries, onUnread } = redone;
  const parts = (Object.entries(marks) as [SavedLater, number | null][]).flatMap(([part, mark]) =>
    mark === null ? [] : [[part, mark] as const],
  );
  const beside: Parts = [
    ...parts.filter(([part]) => !isInEntries[part]),
    ...(marks.ops === null ? [] : [['untold', marks.ops] as const]),
  ];
  const first = Math.min(...parts.map(([, mark]) => mark));
  let position = 0;
  for (;;) {
    const page = await log.factsAfter(position, first);
    for (const kept of page) {
      const { before, seq } = kept;
      const { steps, unread } = parseCommit(kept.facts, interned);
      const isRead = unread.length === 0;
      if (!isRead) await fromEntries(before, seq);
      redoAll(gov, steps.map(factOf), isRead ? parts : beside, { ...restoring, seq }, onUnread);
      ({ position } = kept);
    }
    if (page.length === 0) return;
  }
}

/** A fact that cannot be applied takes those out of service whose state it changes. The others are applied. */
function redoAll(gov: Governance, facts: readonly Fact[], parts: Parts, how: Applying, onUnread: OnUnread): void {
  for (const fact of facts) {
    try {
      for (const [part, mark] of parts) if (how.seq > mark) redoFact(gov, fact, part, how);
    } catch (error) {
      const why = `${nameOf(fact)} of entry ${how.seq}: ${unquoted(error)}`;
      onUnread({ touched: touchedBy(touchOf(fact)), why });
    }
  }
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
