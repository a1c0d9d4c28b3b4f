import type { Access, Principal } from '../access/index.ts';
import type { ChainHead } from '../audit/index.ts';
import { canonicalJson, draftOf } from '../audit/index.ts';

/** What a backup holds. */
export interface MadeBackup {
  /** The newest entry in it. */
  readonly head: ChainHead;
  /** The size and the SHA-256 of its file. */
  readonly bytes: number;
  readonly sha256: string;
}

/** Records that somebody takes a copy of everything, keys included. Call it before the first byte leaves. */
export async function recordBackup(
  { clock, journal }: Pick<Access, 'clock' | 'journal'>,
  by: Principal,
  { head, bytes, sha256 }: MadeBackup,
): Promise<void> {
  const request = by.requestId === undefined ? {} : { request_id: by.requestId };
  journal.record(
    draftOf({
      at: clock.now(),
      eventType: 'BackupCreated',
      actor: by.actor,
      payload: canonicalJson({ ...request, bytes, head_hash: head.hash, head_seq: head.seq, sha256 }),
    }),
  );
  await journal.committed();
}
