import type { Access, Principal } from '../access/index.ts';
import type { ChainHead } from '../audit/index.ts';
import { canonicalJson, draftOf } from '../audit/index.ts';
import type { JournalOf, Meanings } from '../journal/index.ts';
import { marksTable, ownWork, put, storedOnly } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';

/** What a backup holds. */
export interface MadeBackup {
  /** The newest entry in it. */
  readonly head: ChainHead;
  /** The size and the SHA-256 of its file. */
  readonly bytes: number;
  readonly sha256: string;
}

/** A backup has left to its last byte. */
export interface BackupsChange {
  readonly kind: 'backup_taken';
  /** The moment that it shows. */
  readonly at: EpochMs;
}

export interface BackupsSnapshot {
  /** The moment that the last backup shows which was taken whole. Null: none is known. */
  readonly lastBackupAt: EpochMs | null;
}

export const lastBackupAt = 'last_backup_at';

export const backupFacts: Meanings<unknown, BackupsChange> = {
  backup_taken: { ...storedOnly, rows: ({ at }) => [put(marksTable, { name: lastBackupAt, value: at })] },
};

/** Records that somebody takes a copy of everything, keys included. Call it before the first byte leaves. */
export async function recordBackup(
  { clock, journal, callers }: Pick<Access, 'clock' | 'journal' | 'callers'>,
  by: Principal,
  { head, bytes, sha256 }: MadeBackup,
): Promise<void> {
  const request = by.requestId === undefined ? {} : { request_id: by.requestId };
  const payload = canonicalJson({ ...request, bytes, head_hash: head.hash, head_seq: head.seq, sha256 });
  await journal.turn(callers.warrantOf(by), () =>
    journal.record(draftOf({ at: clock.now(), eventType: 'BackupCreated', actor: by.actor, payload })),
  );
}

/** Remembers how old the newest backup is. The log says only that one was begun, and retention may cut that off. */
export async function rememberBackup(
  { journal }: { readonly journal: JournalOf<BackupsChange, never> },
  at: EpochMs,
): Promise<void> {
  await journal.turn(ownWork, () => journal.apply({ kind: 'backup_taken', at }));
}
