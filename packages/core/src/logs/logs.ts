import type { Access, Principal } from '../access/index.ts';
import { narrowedTo, requireScope, covers } from '../access/index.ts';
import type {
  AuditReader,
  EntryLog,
  AuditPage,
  AuditQuery,
  StoredEntry,
  ChainHead,
  SealedEntry,
} from '../audit/index.ts';
import { canonicalJson, draftOf, ReadEntry, system } from '../audit/index.ts';
import type { SearchedEntry } from './fits-query.ts';
import type { Meanings, Table } from '../journal/index.ts';
import { integer, numberIn, ownWork, prune, storedOnly, text, textIn } from '../journal/index.ts';

/** How far the log may exceed its limit before a cut. A cut adds an entry, too, and must not trigger the next cut. */
const slack = 0.1;
const leastRemoved = 2;

export interface Retention {
  /** Entries older than this may go. Null: no limit. */
  readonly maxAgeMs: number | null;
  /** How many of the newest entries stay. Null: no limit. */
  readonly maxEntries: number | null;
}

/**
 * Cuts off the oldest entries. First it adds an entry to the chain that names the last removed entry, its hash and the
 * gateway's signature over both. Only then may the entries go. What is left still verifies: its first entry links to a
 * hash that the chain itself vouches for. Returns the last sequence that may be removed, or undefined.
 */
export async function cutLog(
  access: Access,
  log: { readonly store: EntryLog; readonly reader: AuditReader },
  retention: Retention,
  neededFrom: number,
): Promise<number | undefined> {
  const { mint, signingKeys } = access;
  const [first] = await log.store.after(0, 1);
  const key = signingKeys.current;
  if (first === undefined || key === undefined) return undefined;
  const wanted = await expiredThrough(access, log.reader, retention, first.seq);
  const through = Math.min(wanted, neededFrom, access.journal.head.seq);
  if (through - first.seq + 1 < leastRemoved) return undefined;
  const [last] = await log.store.after(through - 1, 1);
  // An entry that cannot be read vouches for nothing. A later cut ends after it.
  if (last?.seq !== through || last.hash === '') return undefined;
  const cut = { through_hash: last.hash, through_seq: through };
  const signature = await mint.signText(canonicalJson(cut), key);
  const payload = canonicalJson({ ...cut, removed: through - first.seq + 1, signature });
  await access.journal.turn(ownWork, () =>
    access.journal.record(draftOf({ at: access.clock.now(), eventType: 'AuditLogCut', actor: system, payload })),
  );
  return through;
}

/** The last entry that the newest cut removed. Undefined if the log was never cut. */
export async function lastCut(reader: AuditReader): Promise<number | undefined> {
  const { entries } = await reader.latest({ eventType: 'AuditLogCut', limit: 1 });
  if (entries[0] === undefined) return undefined;
  const { payload } = JSON.parse(entries[0].canonical) as { payload: { through_seq: number } };
  return payload.through_seq;
}

async function expiredThrough(
  access: Access,
  reader: AuditReader,
  { maxAgeMs, maxEntries }: Retention,
  first: number,
): Promise<number> {
  const excess = maxEntries === null ? 0 : access.journal.head.seq - first + 1 - maxEntries;
  const byNumber = excess >= Math.max(leastRemoved, (maxEntries ?? 0) * slack) ? first + excess - 1 : 0;
  if (maxAgeMs === null) return byNumber;
  // Only up to the first young entry: after the clock was set back, older entries may follow younger ones.
  const { entries } = await reader.oldest({ from: access.clock.now() - maxAgeMs, limit: 1 });
  const byAge = (entries[0]?.seq ?? access.journal.head.seq + 1) - 1;
  return Math.max(byNumber, byAge);
}

/** Entries that were there at the last anchor and are gone now. */
export interface LostEntries {
  readonly anchored: ChainHead;
  readonly anchoredAt: string;
  /** The newest entry that the log has. */
  readonly head: ChainHead;
  /** Whether the store has the key that the anchor was signed with. */
  readonly keyKnown: boolean;
}

/** Records that the operator goes on without them. */
export async function acceptLostEntries(
  { clock, journal }: Pick<Access, 'clock' | 'journal'>,
  lost: LostEntries,
): Promise<void> {
  const { anchored, anchoredAt, head, keyKnown } = lost;
  const payload = canonicalJson({
    anchored_at: anchoredAt,
    anchored_hash: anchored.hash,
    anchored_seq: anchored.seq,
    head_hash: head.hash,
    head_seq: head.seq,
    // If the end was cut off, the rest is intact. If an entry was replaced, nobody knows since when.
    kept_seq: head.seq < anchored.seq && keyKnown ? head.seq : 0,
    key_known: keyKnown,
  });
  const reason = 'the loss was accepted with --accept-lost-entries';
  await journal.turn(ownWork, () =>
    journal.record(draftOf({ at: clock.now(), eventType: 'AuditEntriesLost', actor: system, reason, payload })),
  );
}

export type LogFilter = Omit<AuditQuery, 'orClaimedOrgId'>;

const nothing: AuditPage = { entries: [], next: null };

/** A page of the log as the caller may see it, newest first. */
export function latestLogs(log: AuditReader, by: Principal, filter: LogFilter): Promise<AuditPage> {
  const query = withinTenant(by, filter);
  return query === undefined ? Promise.resolve(nothing) : log.latest(query);
}

/** The same, oldest first, as for an export. */
export function oldestLogs(log: AuditReader, by: Principal, filter: LogFilter): Promise<AuditPage> {
  const query = withinTenant(by, filter);
  return query === undefined ? Promise.resolve(nothing) : log.oldest(query);
}

/**
 * Narrows the query to the caller's tenant. An impersonation is recorded under the org of the token's owner. An admin
 * of the claimed org finds it, too, by asking for that event type.
 */
function withinTenant(by: Principal, filter: LogFilter): AuditQuery | undefined {
  requireScope(by, 'read');
  const { orgId: askedOrg, teamId: askedTeam, ...rest } = filter;
  const within = narrowedTo(by, { orgId: askedOrg, teamId: askedTeam });
  if (within === 'nothing') return undefined;
  const seesClaims =
    by.orgId !== null &&
    by.teamId === null &&
    askedOrg === undefined &&
    filter.eventType === 'A2AImpersonationAttempted' &&
    covers(by.scopes, 'admin');
  return { ...rest, ...within, ...(seesClaims && by.orgId !== null ? { orClaimedOrgId: by.orgId } : {}) };
}

/** Retention: entries up to this one are removed. */
export interface LogsChange {
  readonly kind: 'entries_removed';
  readonly through: number;
}

/** An email as the log compares it. Null if there is none. */
export function emailKey(email = ''): string | null {
  return email === '' ? null : email.toLowerCase();
}

/** `canonical` holds the whole entry. The other columns serve queries. */
export const entriesTable: Table<SealedEntry, 'seq', StoredEntry> = {
  name: 'audit',
  key: { seq: integer(({ seq }) => seq) },
  columns: {
    at: integer(({ draft }) => draft.at),
    event_type: text(({ draft }) => draft.eventType),
    org_id: text(({ draft }) => draft.lineage.org_id),
    team_id: text(({ draft }) => draft.lineage.team_id),
    agent_id: text(({ draft }) => draft.lineage.agent_id),
    op_id: text(({ draft }) => draft.opId),
    decision: text(({ draft }) => draft.decision),
    claimed_org_id: text(({ draft }) => draft.claimedOrgId ?? null),
    user_issuer: text(({ draft }) => draft.user?.issuer ?? null),
    user_sub: text(({ draft }) => draft.user?.sub ?? null),
    user_email: text(({ draft }) => emailKey(draft.user?.email)),
    run: text(({ draft }) => draft.run ?? null),
    hash: text(({ hash }) => hash),
    canonical: text(({ canonical }) => canonical),
  },
  valuesOf: ({ seq, hash, canonical, draft }) => [
    seq,
    draft.at,
    draft.eventType,
    draft.lineage.org_id,
    draft.lineage.team_id,
    draft.lineage.agent_id,
    draft.opId,
    draft.decision,
    draft.claimedOrgId ?? null,
    draft.user?.issuer ?? null,
    draft.user?.sub ?? null,
    emailKey(draft.user?.email),
    draft.run ?? null,
    hash,
    canonical,
  ],
  itemOf: (row) => new ReadEntry(numberIn(row, 'seq'), textIn(row, 'hash'), textIn(row, 'canonical')),
};

/** What a query compares of an entry that is not a row. */
export function searchedOf({ seq, draft, canonical }: SealedEntry): SearchedEntry {
  return {
    seq,
    at: draft.at,
    event_type: draft.eventType,
    org_id: draft.lineage.org_id,
    team_id: draft.lineage.team_id,
    agent_id: draft.lineage.agent_id,
    op_id: draft.opId,
    decision: draft.decision,
    claimed_org_id: draft.claimedOrgId ?? null,
    user_sub: draft.user?.sub ?? null,
    user_email: emailKey(draft.user?.email),
    run: draft.run ?? null,
    canonical,
  };
}

export const logFacts: Meanings<unknown, LogsChange> = {
  entries_removed: {
    ...storedOnly,
    rows: ({ through }) => [prune(entriesTable, [{ column: 'seq', is: '<=', value: through }])],
  },
};
