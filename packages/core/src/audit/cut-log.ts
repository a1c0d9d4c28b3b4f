import type { Access } from '../access/access.ts';
import type { AuditReader, Store } from '../journal/store.ts';
import { canonicalJson } from './canonical-json.ts';
import { draftOf } from './draft.ts';
import { system } from './entry.ts';

export interface Retention {
  /** Entries older than this may go; null: whatever their age. */
  readonly maxAgeMs: number | null;
  /** How many of the newest stay; null: whatever their number. */
  readonly maxEntries: number | null;
}

/**
 * Gives up the oldest entries. First an entry goes into the chain that names the last one given up, its hash and the
 * gateway's signature over both; only then are they removed. So what is left still verifies: its first entry links to a
 * hash that the chain itself vouches for. Returns the sequence through which entries may be removed, or undefined.
 */
export async function cutLog(
  access: Access,
  log: { readonly store: Pick<Store, 'after'>; readonly reader: AuditReader },
  retention: Retention,
  neededFrom: number,
): Promise<number | undefined> {
  const { gov, mint, signingKeys } = access;
  const [first] = await log.store.after(0, 1);
  const key = signingKeys.current;
  const wanted = await expiredThrough(access, log.reader, retention);
  const through = Math.min(wanted, neededFrom, gov.journal.head.seq);
  if (first === undefined || key === undefined || through < first.seq) return undefined;
  const [last] = await log.store.after(through - 1, 1);
  if (last?.seq !== through) return undefined;
  const cut = { through_hash: last.hash, through_seq: through };
  const signature = await mint.signText(canonicalJson(cut), key);
  gov.journal.record(
    draftOf({
      at: gov.clock.now(),
      eventType: 'AuditLogCut',
      actor: system,
      payload: canonicalJson({ ...cut, removed: through - first.seq + 1, signature }),
    }),
  );
  await gov.journal.committed();
  return through;
}

async function expiredThrough(
  { gov }: Access,
  reader: AuditReader,
  { maxAgeMs, maxEntries }: Retention,
): Promise<number> {
  const byNumber = maxEntries === null ? 0 : gov.journal.head.seq - maxEntries;
  if (maxAgeMs === null) return byNumber;
  const { entries } = await reader.latest({ to: gov.clock.now() - maxAgeMs, limit: 1 });
  return Math.max(byNumber, entries[0]?.seq ?? 0);
}
