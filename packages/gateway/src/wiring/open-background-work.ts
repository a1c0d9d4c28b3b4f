import { makeMailer } from '../adapters/mail/make-mailer.ts';
import { startAccountWork } from '../background/account-work.ts';
import { startApprovalWork } from '../background/approval-work.ts';
import { startHousekeeping } from '../background/housekeeping.ts';
import type { Forwarding } from '../forwarding/forwarding.ts';
import { makeApprovalWebhook } from './approval-webhook.ts';
import { openLifeSigns } from './open-life-signs.ts';
import type { Governed } from './open-governance.ts';
import type { Identity } from './open-identity.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

export interface BackgroundParts {
  readonly publicUrl: string;
  /** Holds retention back for its targets. */
  readonly forwarding: Pick<Forwarding, 'removableThrough'> | undefined;
}

/**
 * Starts the background work: housekeeping, approvals with their webhook, letters. Closing ends each and waits for it.
 */
export function openBackgroundWork(
  context: WiringContext,
  stored: OpenStore,
  { gov, events }: Governed,
  { access, accounts, hasAccounts }: Identity,
  { publicUrl, forwarding }: BackgroundParts,
): void {
  const { config, logger, metrics, opened } = context;
  const { store, reader, membership } = stored;
  const leads = () => membership?.leads ?? true;
  const hearsAll = openLifeSigns(context, stored, gov);
  const forwardedThrough = () => forwarding?.removableThrough ?? Number.POSITIVE_INFINITY;
  const housekeeping = { gov, access, store, reader, leads, hearsAll, forwardedThrough, logger, metrics };
  opened.defer(startHousekeeping(config, housekeeping), 'housekeeping');
  const webhook = makeApprovalWebhook(context, gov, accounts, publicUrl);
  opened.defer(startApprovalWork({ gov, events, webhook, leads, metrics, logger }), 'work on approvals');
  if (!hasAccounts) return;
  const mailer = makeMailer(config, logger);
  const letters = { mailer, publicUrl, drainMs: config.drainSecs * 1000, logger };
  opened.defer(startAccountWork(accounts, letters), 'letters');
}
