import type { Approval, Governance } from '@reeve/core';
import { noteNotified } from '@reeve/core';
import type { LinkedVerdict } from '../adapters/webhook/approval-links.ts';
import { ApprovalLinks } from '../adapters/webhook/approval-links.ts';
import type { NoticeLinks } from '../adapters/webhook/chat-notice.ts';
import { chatNotice } from '../adapters/webhook/chat-notice.ts';
import { sendDelivery } from '../adapters/webhook/send-delivery.ts';
import { slackMessage } from '../adapters/webhook/slack-message.ts';
import { teamsMessage } from '../adapters/webhook/teams-message.ts';
import type { WebhookMessage } from '../adapters/webhook/webhook.ts';
import { Webhook, webhookJson } from '../adapters/webhook/webhook.ts';
import type { Config } from '../config/settings.ts';
import type { ApprovalJson } from '../transports/http/present-approval.ts';
import { approvalJson } from '../transports/http/present-approval.ts';
import type { WiringContext } from './wiring-context.ts';

/** A notice of an approval. */
interface ApprovalMessage extends WebhookMessage {
  readonly content: () => { readonly approval: ApprovalJson; readonly links: NoticeLinks };
}

/** Notifies the configured program or chat of approvals; undefined if none is configured. */
export function makeApprovalWebhook(
  { config, metrics, logger }: WiringContext,
  gov: Governance,
  publicUrl: string,
): Webhook<ApprovalMessage> | undefined {
  const { approvalWebhookUrl: url, approvalWebhookSecret: secret, approvalWebhookFormat: format } = config;
  if (url === undefined || secret === undefined) return undefined;
  const linksFor = linksTo(publicUrl, approvalLinksOf(config));
  const messages = () => messagesOf(gov.approvals.owing(), linksFor);
  return new Webhook<ApprovalMessage>({
    url,
    secret,
    bodyOf: bodies[format],
    now: gov.clock.now,
    elapsed: gov.clock.elapsed,
    send: sendDelivery,
    owing: messages,
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

const bodies: Readonly<Record<Config['approvalWebhookFormat'], (message: ApprovalMessage) => string>> = {
  json: webhookJson,
  slack: ({ content }) => slackMessage(noticeOf(content())),
  teams: ({ content }) => teamsMessage(noticeOf(content())),
};

function noticeOf({ approval, links }: ReturnType<ApprovalMessage['content']>) {
  return chatNotice(approval, links);
}

/** What signs and reads links that decide; undefined if nobody may decide by link. */
export function approvalLinksOf(config: Config): ApprovalLinks | undefined {
  const { approvalWebhookSecret: secret, approvalWebhookApprover: approver } = config;
  return secret === undefined || approver === undefined ? undefined : new ApprovalLinks(secret, approver);
}

function linksTo(publicUrl: string, links: ApprovalLinks | undefined): (approval: Approval) => NoticeLinks {
  const base = publicUrl.replace(/(?<!\/)\/+$/, '');
  return ({ id, state, expiresAt }) => {
    const review = `${base}/approvals?id=${encodeURIComponent(id)}`;
    if (links === undefined || state !== 'open') return { review };
    const to = (verdict: LinkedVerdict['verdict']) =>
      `${base}/api/v1/approval-link?token=${links.tokenFor({ approvalId: id, verdict, expiresAt })}`;
    return { review, approve: to('approve'), reject: to('reject') };
  };
}

/** The next notice of each approval: `requested` comes before `decided`. */
function* messagesOf(
  approvals: Iterable<Approval>,
  linksFor: (approval: Approval) => NoticeLinks,
): Generator<ApprovalMessage> {
  for (const approval of approvals) {
    const [notice] = approval.notices;
    if (notice === undefined) continue;
    const at = notice === 'requested' ? approval.requestedAt : (approval.decidedAt ?? approval.requestedAt);
    const { id } = approval;
    const content = () => ({ approval: approvalJson(approval), links: linksFor(approval) });
    yield { id: `${id}.${notice}`, subject: id, type: `approval.${notice}`, at, content };
  }
}
