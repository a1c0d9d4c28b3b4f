import { userText } from '@reeve/contract/names';
import { visibleText } from '@reeve/contract/visible-text';
import { escapeHtml, style } from './docs-page.ts';
import type { ApprovalJson } from './present-approval.ts';
import { pagePolicy } from './security-headers.ts';

/** The page may send its own form, and nothing else. */
export const approvalPageHeaders = { 'content-security-policy': pagePolicy("'self'") };

interface Confirmation {
  readonly approval: ApprovalJson;
  readonly verdict: 'approve' | 'reject';
  /** In whose name the link decides. */
  readonly approver: string;
}

/** Asks a person to confirm. Opening the page decides nothing, because chat programs open every link. */
export function confirmationPage({ approval, verdict, approver }: Confirmation): string {
  if (approval.state !== 'open') return outcomePage(approval);
  if (approval.refusal != null) {
    const why = `<p>${escapeHtml(approver)} cannot decide this: ${plain(approval.refusal.detail)}</p>`;
    return page('Somebody else must decide', `${facts(approval)}${why}`);
  }
  const what = verdict === 'approve' ? 'Approve' : 'Reject';
  return page(
    `${what} this action?`,
    `${facts(approval)}
<form method="post"><p>This decides in the name of <b>${escapeHtml(approver)}</b>, and is recorded so.</p>
<p><button type="submit">${what}</button></p></form>`,
  );
}

const outcomes = {
  open: 'Your approval counts; more are needed',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Too late: the approval has expired',
  cancelled: 'Too late: the action was called off',
} as const;

/** Says what became of an approval. */
export function outcomePage(approval: ApprovalJson): string {
  return page(outcomes[approval.state], `${facts(approval)}<p>You can close this page.</p>`);
}

function facts(approval: ApprovalJson): string {
  const { agent, verdicts, required } = approval;
  const rows = {
    Agent: [agent.org_id, agent.team_id, agent.agent_id].map((part) => (part === '' ? '-' : part)).join('/'),
    For: userText(approval.user),
    Action: approval.title,
    Summary: approval.summary,
    Why: approval.reason,
    Rules: approval.rules.join(', ') || approval.policy_rule,
    Cost: `${approval.cost_usd} USD`,
    Approvals: `${verdicts.filter(({ verdict }) => verdict === 'approve').length} of ${required}`,
    Approvers: approval.approvers.words,
    'Self-approved': approval.self_approved ? 'yes: the agent is an approver’s own' : '',
    Expires: approval.expires_at,
  };
  const cells = Object.entries(rows).flatMap(([name, value]) =>
    value === '' ? [] : [`<tr><td>${name}</td><td>${plain(value)}</td></tr>`],
  );
  const action = plain(JSON.stringify(approval.action, null, 2));
  return `<table><tbody>${cells.join('')}</tbody></table><pre tabindex="0">${action}</pre>`;
}

/** A text that an agent chose. What nobody sees, or what turns the direction of a text, is written out. */
function plain(text: string): string {
  return escapeHtml(visibleText(text));
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Reeve</title>
<style>${style}</style>
</head>
<body><main><article><h1>${title}</h1>
${content}
</article></main></body>
</html>
`;
}
