import type { Json, Actor, AuditEventType, EntryDraft } from '../audit/index.ts';
import { canonicalJson, draftOf } from '../audit/index.ts';
import type { Ports } from '../kernel/index.ts';
import type { Account } from './account.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts, Origin } from './accounts.ts';
import { lock } from './accounts.ts';

/** Adds an audit entry to this change. */
export type Note = (
  eventType: AuditEventType,
  by: NoteBy,
  details?: { readonly [member: string]: Json },
) => Promise<void>;

export interface NoteBy {
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
 * the answer leaves. If the process ends in between, `settleOwed` finds them.
 */
export async function changeAccounts<Result>(
  accounts: Accounts,
  locks: readonly string[],
  work: (rows: AccountRows, note: Note) => Promise<Result>,
): Promise<Result> {
  const { access } = accounts;
  const owed: OwedDraft[] = [];
  const result = await accounts.store.transaction(locks, (rows) =>
    work(rows, async (eventType, by, details = {}) => {
      owed.push(await oweEntry(access, rows, eventType, by, details));
    }),
  );
  for (const { id, draft } of owed) record(accounts, id, draft);
  await access.journal.committed();
  return result;
}

interface OwedDraft {
  readonly id: string;
  readonly draft: EntryDraft;
}

/** Stores an entry that the log is to hold. */
export async function oweEntry(
  { clock, randomness }: Pick<Ports, 'clock' | 'randomness'>,
  rows: AccountRows,
  eventType: AuditEventType,
  { actor, from: { address, requestId }, reason }: NoteBy,
  details: { readonly [member: string]: Json },
): Promise<OwedDraft> {
  const payload = canonicalJson({ ...details, address, request_id: requestId });
  const draft = draftOf({ at: clock.now(), eventType, actor, reason: reason ?? null, payload });
  const id = randomness.hex(16);
  await rows.owe({ id, at: draft.at, draft: JSON.stringify(draft) });
  return { id, draft };
}

const owedForMs = 60_000;
const mostAtOnce = 100;

/** Records entries that are still owed because a process ended between a change and its entry. */
export async function settleOwed(accounts: Accounts): Promise<void> {
  const { access } = accounts;
  const now = access.clock.now();
  const owed = await accounts.store.transaction([lock.owed], async (rows) => {
    const found = await rows.owed(now - owedForMs, mostAtOnce);
    // Claims the entries: other gateways on this store leave them alone while this one records them.
    for (const entry of found) await rows.owe({ ...entry, at: now });
    return found;
  });
  for (const { id, draft } of owed) record(accounts, id, JSON.parse(draft) as EntryDraft);
  await access.journal.committed();
}

function record({ access }: Accounts, id: string, draft: EntryDraft): void {
  access.journal.record(draft);
  access.journal.write({ kind: 'owed_entry_recorded', id });
}
