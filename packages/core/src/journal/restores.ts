import type { EpochMs } from '../kernel/index.ts';
import type { Meanings } from './meaning.ts';
import { storedOnly } from './meaning.ts';
import { marksTable, remove } from './rows.ts';

/** The log now says that the store was restored. */
export interface RestoresChange {
  readonly kind: 'restore_recorded';
}

/** What a store says about having been restored from a backup. */
export interface RestoresSnapshot {
  /** When it was last restored. Null: never. */
  readonly restoredAt: EpochMs | null;
  /** When the backup was made, as long as the log does not say that the store was restored. Null: it does. */
  readonly restoredFrom: EpochMs | null;
}

/** Stays for good: whatever counts upwards goes on above it, because what came after the backup is not known. */
export const restoredAt = 'restored_at';

/** Stays until the log holds the restore. */
export const restoredFrom = 'restored_from';

export const restoreFacts: Meanings<unknown, RestoresChange> = {
  restore_recorded: { ...storedOnly, rows: () => [remove(marksTable, { name: restoredFrom })] },
};
