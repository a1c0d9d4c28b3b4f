import type { Approval, DomainEvent, EventBus, Governance } from '@reeve/core';
import { expireApprovals, noteNotified } from '@reeve/core';
import { sendDelivery } from '../adapters/webhook/send-delivery.ts';
import type { WebhookMessage } from '../adapters/webhook/webhook.ts';
import { Webhook } from '../adapters/webhook/webhook.ts';
import type { Config } from '../config/settings.ts';
import { Rounds } from './rounds.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { approvalJson } from '../transports/http/present-approval.ts';

export interface ApprovalWork {
  readonly gov: Governance;
  readonly events: EventBus<DomainEvent>;
  readonly metrics: Pick<Metrics, 'approvalChanged' | 'webhookTried'>;
  readonly logger: Logger;
}

/** How often to look for approvals whose time is over, and how many end in one turn. */
const expireEveryMs = 250;
const expiredPerTurn = 50;
const keepEveryMs = 10_000;
/** How often to look for messages to the webhook that are to be tried again. */
const sendEveryMs = 250;
/** How long a decided approval can be read, and how many. */
const keptMs = 30 * 86_400_000;
const mostKept = 10_000;
const removedPerTick = 500;

/** What is done about approvals aside from calls: they expire, somebody is told of them, and the old are forgotten. */
export function startApprovalWork(config: Config, { gov, events, metrics, logger }: ApprovalWork): () => Promise<void> {
  const rounds = new Rounds((error) =>
    logger.warn({ err: error }, 'approvals could not be ended in time; it is tried again'),
  );
  const expire = rounds.of(async () => {
    while (!rounds.stopped && (await expireApprovals(gov, expiredPerTurn)) === expiredPerTurn);
  });
  const keep = () => {
    gov.approvals.forgetExpiredGrants();
    const before = gov.clock.now() - keptMs;
    gov.journal.write({ kind: 'approvals_removed', before, kept: mostKept, most: removedPerTick });
  };
  const webhook = webhookOf(config, gov, metrics, logger);
  rounds.every(expireEveryMs, expire);
  rounds.every(keepEveryMs, keep);
  rounds.every(sendEveryMs, () => webhook?.wake());
  const unsubscribe = events.subscribe((batch) => {
    for (const event of batch) if (event.type === 'approval') metrics.approvalChanged(event);
    if (batch.some(({ type }) => type === 'approval')) webhook?.wake();
  });
  webhook?.wake();
  return async () => {
    unsubscribe();
    await Promise.all([rounds.stop(), webhook?.stop()]);
  };
}

function webhookOf(
  config: Config,
  gov: Governance,
  metrics: ApprovalWork['metrics'],
  logger: Logger,
): Webhook | undefined {
  const { approvalWebhookUrl: url, approvalWebhookSecret: secret } = config;
  if (url === undefined || secret === undefined) return undefined;
  return new Webhook({
    url,
    secret,
    now: gov.clock.now,
    elapsed: gov.clock.elapsed,
    send: sendDelivery,
    owing: () => messagesOf(gov.approvals.owing()),
    onSettled: ({ subject, type }) =>
      noteNotified(gov, subject, type === 'approval.requested' ? 'requested' : 'decided'),
    onAttempt: ({ id, type }, { outcome, detail }, isGivenUp) => {
      metrics.webhookTried(type, outcome);
      if (outcome === 'delivered') return;
      const what =
        outcome === 'refused'
          ? 'the webhook has refused a message; it is not sent again'
          : isGivenUp
            ? 'the webhook could not be reached for a day; the message is given up'
            : 'the webhook could not be reached; it is tried again';
      logger.warn({ delivery: id, detail }, what);
    },
  });
}

/** Of each approval the next notice: that it was requested comes before that it is decided. */
function* messagesOf(approvals: Iterable<Approval>): Generator<WebhookMessage> {
  for (const approval of approvals) {
    const [notice] = approval.notices;
    if (notice === undefined) continue;
    const at = notice === 'requested' ? approval.requestedAt : (approval.decidedAt ?? approval.requestedAt);
    const { id } = approval;
    const content = () => ({ approval: approvalJson(approval) });
    yield { id: `${id}.${notice}`, subject: id, type: `approval.${notice}`, at, content };
  }
}
