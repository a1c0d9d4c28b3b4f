import type { Snapshot } from '@reeve/core';
import { recordRestore } from '@reeve/core';
import type { Logger } from '../telemetry/logger.ts';
import type { Identity } from './open-identity.ts';

/** Records at the first start after a restore that there was one, before anybody can call. */
export async function recordRestoreOf(
  { restoredFrom, restoredAt, head }: Pick<Snapshot, 'restoredFrom' | 'restoredAt' | 'head'>,
  { accounts }: Identity,
  logger: Logger,
): Promise<void> {
  if (restoredFrom === null) return;
  await recordRestore(accounts, { backupAt: restoredFrom, restoredAt: restoredAt ?? restoredFrom, head });
  logger.warn(
    { backup_at: new Date(restoredFrom).toISOString(), head },
    'the store was restored from a backup: all sessions and tokens have ended; keys, agents and grants that were revoked after the backup work again',
  );
}
