import type { Governance, Snapshot } from '@reeve/core';
import { rememberBackup } from '@reeve/core';
import type { WiringContext } from './wiring-context.ts';
import { logUnforeseen } from './wiring-context.ts';

/** Has the metrics say how old the last backup is, also after a restart. Call what it returns for each backup. */
export function followBackups(
  context: WiringContext,
  gov: Governance,
  { lastBackupAt }: Pick<Snapshot, 'lastBackupAt'>,
): (at: number) => void {
  let last = lastBackupAt;
  context.metrics.observeBackups(() => last);
  return (at) => {
    last = at;
    void rememberBackup(gov, at).catch(logUnforeseen(context));
  };
}
