import type { Snapshot } from '@reeve/core';
import { isSignedText, signText } from '../adapters/crypto/ed25519.ts';
import { AnchorFile } from '../adapters/files/anchor-file.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { AnchorKeeper } from '../background/anchor-keeper.ts';
import { StartError } from '../start-error.ts';
import { checkAnchor, lossText } from '../startup/check-anchor.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

/**
 * Opens the anchor of the audit log, if configured, and compares the log with it. A log that has lost anchored entries
 * stops the start, unless the operator has accepted that. Closing it anchors what was written last.
 */
export async function openAnchor(
  { config, health, logger, opened }: WiringContext,
  { store, reader }: OpenStore,
  { head, signingKeys }: Snapshot,
  acceptLoss: boolean,
): Promise<AnchorKeeper | undefined> {
  if (config.auditAnchor === undefined) return undefined;
  const file = new AnchorFile(config.auditAnchor);
  const anchors = await file.newest();
  const lost = await checkAnchor(file.path, anchors, { store, reader, head, signingKeys, isSigned: isSignedText });
  if (lost !== undefined && !acceptLoss) throw new StartError(lossText(file.path, lost));
  if (lost === undefined && acceptLoss) {
    logger.warn('--accept-lost-entries was given, and nothing is lost: take it away');
  }
  const anchor = new AnchorKeeper(file, anchors.at(-1), lost, { clock: systemClock, health, logger, sign: signText });
  opened.defer(() => anchor.stop(), 'the audit anchor');
  return anchor;
}
