import { replaceSigningKeys } from '../access/index.ts';
import type { ChainHead } from '../audit/index.ts';
import { canonicalJson, draftOf, system } from '../audit/index.ts';
import { ownWork } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { timestamp } from '../kernel/index.ts';
import type { Accounts } from './accounts.ts';

/** What a store was restored from. */
export interface Restored {
  readonly backupAt: EpochMs;
  readonly restoredAt: EpochMs;
  /** The newest entry of the backup. */
  readonly head: ChainHead;
}

/**
 * Records that the store was restored, before anything else is decided on it. Nobody knows what was revoked after the
 * backup. So whatever a person can get again by logging in or asking ends here: sessions, tokens made from keys,
 * invites, and links in mail. If it is interrupted, the next start does it again.
 */
export async function recordRestore(accounts: Accounts, { backupAt, restoredAt, head }: Restored): Promise<void> {
  const { access } = accounts;
  const { clock, journal } = access;
  const [sessions, invites] = await accounts.store.transaction([], async (rows) => [
    await rows.endAllSessions(clock.now()),
    await rows.removeAllSent(),
  ]);
  const key = await access.mint.makeKey(clock.now());
  const payload = canonicalJson({
    backup_at: timestamp(backupAt),
    head_hash: head.hash,
    head_seq: head.seq,
    invites_removed: invites,
    kid: key.kid,
    restored_at: timestamp(restoredAt),
    sessions_ended: sessions,
  });
  const reason = 'the store was restored from a backup; what was decided and revoked after it is not known here';
  await journal.turn(ownWork, () => {
    replaceSigningKeys(access, key);
    journal.record(draftOf({ at: clock.now(), eventType: 'BackupRestored', actor: system, reason, payload }));
    journal.apply({ kind: 'restore_recorded' });
  });
}
