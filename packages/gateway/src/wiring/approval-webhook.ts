import type { Accounts, Approval, Governance } from '@reeve/core';
import { findApprover, noteNotified, owingNotices, readApprover, refusalOfVerdict } from '@reeve/core';
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
import { approvalJson, approvalJsonFor } from '../transports/http/present-approval.ts';
import type { WiringContext } from './wiring-context.ts';

type Content = Readonly<Record<string, unknown>> & {
  readonly approval: ApprovalJson;
  readonly links: NoticeLinks;
};

/** A notice of an approval. */
interface ApprovalMessage extends WebhookMessage {
  readonly content: () => Promise<Content>;
}

/** Notifies the configured program or chat of approvals; undefined if none is configured. */
export function makeApprovalWebhook(
  { config, metrics, logger }: WiringContext,
  gov: Governance,
  accounts: Accounts,
  publicUrl: string,
): Webhook<ApprovalMessage> | undefined {
  const { approvalWebhookUrl: url, approvalWebhookSecret: secret, approvalWebhookFormat: format } = config;
  if (url === undefined || secret === undefined) return undefined;
  const linksFor = linksTo(publicUrl, approvalLinksOf(config));
  const { approvalWebhookApprover: email } = config;
  const present = (approval: Approval) =>
    email === undefined ? Promise.resolve(approvalJson(approval)) : presentTo(gov, accounts, email, approval);
  const messages = () => messagesOf(owingNotices(gov), present, linksFor);
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

/**
 * An approval as the person meets it in whose name links decide. If it is not known whether that person's verdict counts,
 * it does not.
 */
async function presentTo(
  gov: Governance,
  accounts: Accounts,
  email: string,
  approval: Approval,
): Promise<ApprovalJson> {
  if (approval.state !== 'open') return approvalJson(approval);
  try {
    const by = await findApprover(accounts, email, approval.expiresAt);
    return approvalJsonFor(approval, refusalOfVerdict(gov, await readApprover(gov, by, [approval]), approval));
  } catch {
    return { ...approvalJson(approval), refusal: { code: 'not_an_approver', detail: `${email} cannot decide now` } };
  }
}

const bodies: Readonly<
  Record<Config['approvalWebhookFormat'], (message: ApprovalMessage) => string | Promise<string>>
> = {
  json: webhookJson,
  slack: async ({ content }) => slackMessage(noticeOf(await content())),
  teams: async ({ content }) => teamsMessage(noticeOf(await content())),
};

function noticeOf({ approval, links }: Content) {
  return chatNotice(approval, links);
}

/** What signs and reads links that decide; undefined if nobody may decide by link. */
export function approvalLinksOf(config: Config): ApprovalLinks | undefined {
  const { approvalWebhookSecret: secret, approvalWebhookApprover: approver } = config;
  return secret === undefined || approver === undefined ? undefined : new ApprovalLinks(secret, approver);
}

function linksTo(
  publicUrl: string,
  links: ApprovalLinks | undefined,
): (approval: Approval, shown: ApprovalJson) => NoticeLinks {
  const base = publicUrl.replace(/(?<!\/)\/+$/, '');
  return ({ id, state, expiresAt }, { refusal }) => {
    const review = `${base}/approvals?id=${encodeURIComponent(id)}`;
    if (links === undefined || state !== 'open' || refusal != null) return { review };
    const to = (verdict: LinkedVerdict['verdict']) =>
      `${base}/api/v1/approval-link?token=${links.tokenFor({ approvalId: id, verdict, expiresAt })}`;
    return { review, approve: to('approve'), reject: to('reject') };
  };
}

/** The next notice of each approval: `requested` comes before `decided`. */
function* messagesOf(
  approvals: Iterable<Approval>,
  present: (approval: Approval) => Promise<ApprovalJson>,
  linksFor: (approval: Approval, shown: ApprovalJson) => NoticeLinks,
): Generator<ApprovalMessage> {
  for (const approval of approvals) {
    const [notice] = approval.notices;
    if (notice === undefined) continue;
    const at = notice === 'requested' ? approval.requestedAt : (approval.decidedAt ?? approval.requestedAt);
    const { id } = approval;
    const content = async () => {
      const shown = await present(approval);
      return { approval: shown, links: linksFor(approval, shown) };
    };
    yield { id: `${id}.${notice}`, subject: id, type: `approval.${notice}`, at, content };
  }
}
