import type { Approval, Approvals, Execute, Principal } from '@reeve/core';
import { findApproval, invalidToken, readApprover, refusalOfVerdict } from '@reeve/core';
import { approvalPageHeaders, confirmationPage, outcomePage } from '../approval-page.ts';
import type { Handlers } from '../handler.ts';
import { RawAnswer } from '../handler.ts';
import { approvalJson, approvalJsonFor } from '../present-approval.ts';

export interface LinkPorts {
  readonly approvals: Approvals;
  readonly execute: Execute;
  /** What a token does; undefined if it does nothing. */
  readonly read: (token: string) => Linked | undefined;
  /** The person in whose name links decide. */
  readonly approver: (expiresAt: number) => Promise<Principal>;
}

interface Linked {
  readonly approvalId: string;
  readonly verdict: 'approve' | 'reject';
  readonly expiresAt: number;
}

/** Verdicts by a link from a chat: reading the link shows what it is about, sending it decides. */
export function approvalLinkHandlers(ports: LinkPorts): Pick<Handlers, 'showApprovalLink' | 'useApprovalLink'> {
  const { approvals, execute } = ports;
  const opened = async (token: string) => {
    const linked = ports.read(token);
    if (linked === undefined) throw invalidToken();
    return { linked, by: await ports.approver(linked.expiresAt) };
  };
  return {
    showApprovalLink: async ({ query }) => {
      const { linked, by } = await opened(query.token);
      const found = await findApproval(approvals, by, linked.approvalId);
      const approver = await readApprover(approvals, by, [found]);
      const approval = approvalJsonFor(found, refusalOfVerdict(approvals, approver, found));
      return html(confirmationPage({ approval, verdict: linked.verdict, approver: by.actor.label }));
    },
    useApprovalLink: async ({ query }, { requestId }) => {
      const { linked, by: person } = await opened(query.token);
      const { approvalId, verdict } = linked;
      const by = { ...person, requestId };
      const given = { by, approvalId, reason: '', via: 'chat_link' } as const;
      const decided: Approval = await (verdict === 'approve'
        ? execute({ kind: 'approve', ...given, grant: null })
        : execute({ kind: 'reject', ...given }));
      return html(outcomePage(approvalJson(decided)));
    },
  };
}

function html(page: string): RawAnswer {
  return new RawAnswer('text/html; charset=utf-8', page, approvalPageHeaders);
}
