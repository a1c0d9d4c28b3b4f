import type { Approval, Governance } from '@reeve/core';
import { noteNotified } from '@reeve/core';
import { sendDelivery } from '../adapters/webhook/send-delivery.ts';
import type { WebhookMessage } from '../adapters/webhook/webhook.ts';
import { Webhook } from '../adapters/webhook/webhook.ts';
import { approvalJson } from '../transports/http/present-approval.ts';
import type { WiringContext } from './wiring-context.ts';

/** Notifies the configured program of approvals, in the form of the HTTP API; undefined if none is configured. */
export function makeApprovalWebhook({ config, metrics, logger }: WiringContext, gov: Governance): Webhook | undefined {
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

/** The next notice of each approval: `requested` comes before `decided`. */
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
