import type { Json, Actor, AuditEventType, EntryDraft } from '../audit/index.ts';
import { canonicalJson, draftOf } from '../audit/index.ts';
import type { Principal } from '../access/index.ts';
import { ownWork } from '../journal/index.ts';
import type { Ports } from '../kernel/index.ts';
import type { Account } from './account.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts, Origin } from './accounts.ts';
import { lock } from './accounts.ts';
import { trackEndings } from './track-endings.ts';
import { locksBehind, requireKey, requirePeople } from './require-standing.ts';

/** Adds an audit entry to this change. */
export type AuditWriter = (
  eventType: AuditEventType,
  by: AuditSource,
  details?: { readonly [member: string]: Json },
) => Promise<void>;

export interface AuditSource {
  readonly actor: Actor;
  readonly from: Origin;
  readonly reason?: string;
}

export const somebody: Actor = { id: '', kind: 'unauthenticated', label: '' };

export function personOf(account: Account): Actor {
  return { id: account.id, kind: 'account', label: account.email };
}

/**
 * Changes accounts and records the change. The same transaction stores the audit entries, and the log holds them before
 * the answer leaves. If the process ends in between, `drainOutbox` finds them. The transaction checks the caller once
 * more: it may have lost its rights since it was authenticated. `by` is null where the rows alone decide, as in a login.
 */
export async function changeAccounts<Result>(
  accounts: Accounts,
  by: Principal | null,
  locks: readonly string[],
  work: (rows: AccountRows, audit: AuditWriter) => Promise<Result>,
): Promise<Result> {
  const { access } = accounts;
  const { journal } = access;
  const queued: QueuedDraft[] = [];
  const ended = new Set<string>();
  const allLocks = by === null ? locks : [...locks, ...locksBehind(access, by)];
  const result = await accounts.store.transaction(allLocks, async (rows) => {
    const audit: AuditWriter = async (eventType, source, details = {}) => {
      queued.push(await queueEntry(access, rows, eventType, source, details));
    };
    if (by !== null) await requirePeople(accounts, rows, by);
    const done = await work(trackEndings(rows, ended), audit);
    if (by !== null) await requireKey(accounts, rows, by);
    return done;
  });
  if (queued.length + ended.size === 0) return result;
  const ids = [...ended];
  // The transaction has decided. The log only tells.
  await journal.turn(ownWork, () => {
    for (const { id, draft } of queued) recordQueued(accounts, id, draft);
    if (ids.length > 0) journal.apply({ kind: 'rights_changed', ids });
  });
  return result;
}

interface QueuedDraft {
  readonly id: string;
  readonly draft: EntryDraft;
}

/** Stores an entry that the log is to hold. */
export async function queueEntry(
  { clock, randomness }: Pick<Ports, 'clock' | 'randomness'>,
  rows: AccountRows,
  eventType: AuditEventType,
  { actor, from: { address, requestId }, reason }: AuditSource,
  details: { readonly [member: string]: Json },
): Promise<QueuedDraft> {
  const payload = canonicalJson({ ...details, address, request_id: requestId });
  const draft = draftOf({ at: clock.now(), eventType, actor, reason: reason ?? null, payload });
  const id = randomness.hex(16);
  await rows.saveOutboxEntry({ id, at: draft.at, draft: JSON.stringify(draft) });
  return { id, draft };
}

const outboxWaitMs = 60_000;
const mostAtOnce = 100;

/** Records entries that are still queued because a process ended between a change and its entry. */
export async function drainOutbox(accounts: Accounts): Promise<void> {
  const { access } = accounts;
  const now = access.clock.now();
  const queued = await accounts.store.transaction([lock.outbox], async (rows) => {
    const found = await rows.outboxEntries(now - outboxWaitMs, mostAtOnce);
    // Claims the entries: other gateways on this store leave them alone while this one records them.
    for (const entry of found) await rows.saveOutboxEntry({ ...entry, at: now });
    return found;
  });
  if (queued.length === 0) return;
  await access.journal.turn(ownWork, () => {
    for (const { id, draft } of queued) recordQueued(accounts, id, JSON.parse(draft) as EntryDraft);
  });
}

function recordQueued({ access }: Accounts, id: string, draft: EntryDraft): void {
  access.journal.record(draft);
  access.journal.apply({ kind: 'owed_entry_recorded', id });
}
