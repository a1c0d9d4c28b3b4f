import type { DomainEvent, EventBus, Approvals } from '@reeve/core';
import { expireApprovals } from '@reeve/core';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Rounds } from './rounds.ts';

export interface ApprovalWork {
  readonly gov: Approvals;
  readonly events: EventBus<DomainEvent>;
  /** Notifies another program of approvals, if one is configured. */
  readonly webhook: { wake(): void; stop(): Promise<void> } | undefined;
  /** Whether this gateway does the work that one of several on the same store must do. */
  readonly leads: () => boolean;
  readonly metrics: Pick<Metrics, 'approvalChanged'>;
  readonly logger: Logger;
}

/** How often to look for expired approvals, and how many end in one turn. */
const expireEveryMs = 250;
const expiredPerTurn = 50;
const keepEveryMs = 10_000;
/** How often to look for webhook messages to retry. */
const sendEveryMs = 250;
/** How long a decided approval can be read, and how many are kept. */
const keptMs = 30 * 86_400_000;
const mostKept = 10_000;
const removedPerTick = 500;

/** The background work of approvals: they expire, the webhook is notified, and old ones are forgotten. */
export function startApprovalWork({ gov, events, webhook, leads, metrics, logger }: ApprovalWork): () => Promise<void> {
  const rounds = new Rounds((error) =>
    logger.warn({ err: error }, 'approvals could not be ended in time; it is tried again'),
  );
  const expire = rounds.of(async () => {
    while (!rounds.stopped && leads() && (await expireApprovals(gov, expiredPerTurn)) === expiredPerTurn);
  });
  const keep = () => {
    gov.approvals.forgetExpiredGrants();
    if (!leads()) return;
    const before = gov.clock.now() - keptMs;
    gov.journal.apply({ kind: 'approvals_removed', before, kept: mostKept, most: removedPerTick });
  };
  rounds.every(expireEveryMs, expire);
  rounds.every(keepEveryMs, keep);
  const wake = () => {
    if (leads()) webhook?.wake();
  };
  rounds.every(sendEveryMs, wake);
  const unsubscribe = events.subscribe((batch, isForeign) => {
    // Each gateway counts what it did, so that their counts add up.
    for (const event of isForeign ? [] : batch) if (event.type === 'approval') metrics.approvalChanged(event);
    if (batch.some(({ type }) => type === 'approval')) wake();
  });
  wake();
  return async () => {
    unsubscribe();
    await Promise.all([rounds.stop(), webhook?.stop()]);
  };
}
