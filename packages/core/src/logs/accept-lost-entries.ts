import type { Access } from '../access/access.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import type { ChainHead } from '../audit/chain.ts';
import { draftOf, system } from '../audit/entry.ts';

/** Entries that were there when the log was last anchored, and are not any more. */
export interface LostEntries {
  readonly anchored: ChainHead;
  readonly anchoredAt: string;
  /** The newest entry that the log has. */
  readonly head: ChainHead;
  /** Whether the store has the key that the anchor was signed with. */
  readonly keyKnown: boolean;
}

/** Puts it on record that the operator goes on without them. */
export async function acceptLostEntries(
  { clock, journal }: Pick<Access, 'clock' | 'journal'>,
  lost: LostEntries,
): Promise<void> {
  const { anchored, anchoredAt, head, keyKnown } = lost;
  journal.record(
    draftOf({
      at: clock.now(),
      eventType: 'AuditEntriesLost',
      actor: system,
      reason: 'the loss was accepted with --accept-lost-entries',
      payload: canonicalJson({
        anchored_at: anchoredAt,
        anchored_hash: anchored.hash,
        anchored_seq: anchored.seq,
        head_hash: head.hash,
        head_seq: head.seq,
        // Where the end was cut off, what is left is as it was. Where an entry was replaced, nobody knows since when.
        kept_seq: head.seq < anchored.seq && keyKnown ? head.seq : 0,
        key_known: keyKnown,
      }),
    }),
  );
  await journal.committed();
}
