import { roles } from '../../access/index.ts';
import type { UserId } from '../../action/index.ts';
import type { Approval, ApprovalEvent, ApprovalsChange, GrantWish, StandingGrant } from '../../approvals/index.ts';
import type { CanonicalJson } from '../../audit/index.ts';
import type { ApproverTerms } from '../../policy/index.ts';
import type { Codec } from './codec.ts';
import type { SchemaOf } from './common.ts';
import { actionType, actor, width } from './common.ts';
import { record } from './record.ts';
import { agent, as, flag, integer, list, nullable, opId, optional, ownText, set, text, time, word } from './values.ts';

const reach = word(['run', 'until']);

const wish: Codec<GrantWish> = as(
  record<{ readonly reach: GrantWish['reach']; readonly until: number | null }>({ reach, until: nullable(time) }),
  (wanted: GrantWish) => ({ reach: wanted.reach, until: wanted.reach === 'run' ? null : wanted.until }),
  ({ until }): GrantWish => (until === null ? { reach: 'run' } : { reach: 'until', until }),
);

const terms = record<ApproverTerms>({ roles: optional(list(word(roles))), emails: optional(list(text)) });

/** What the gateway has written in the canonical form. */
const canonical: Codec<CanonicalJson> = as(
  ownText,
  (value: CanonicalJson): string => value,
  (value) => value as CanonicalJson,
);

const verdict = record<Approval['verdicts'][number]>({
  verdict: word(['approve', 'reject']),
  actor,
  people: list(text),
  isSelfApproved: flag,
  reason: text,
  at: time,
  grant: nullable(wish),
});

const approval = record<Approval>({
  id: text,
  state: word(['open', 'approved', 'rejected', 'expired', 'cancelled']),
  agent,
  opId,
  actionType,
  resource: text,
  coverDigest: ownText,
  covers: text,
  summary: text,
  runId: text,
  user: nullable(record<UserId>({ issuer: text, sub: text, email: text })),
  action: canonical,
  digest: text,
  policyRule: text,
  rules: list(text),
  isGrantable: flag,
  allowsSelf: flag,
  by: optional(list(terms)),
  notUser: optional(set),
  policyVersion: text,
  reason: text,
  cause: word(['rule', 'budget']),
  approver: width,
  costMicros: integer,
  requestedAt: time,
  expiresAt: time,
  required: integer,
  verdicts: list(verdict),
  decidedAt: nullable(time),
  grantId: nullable(text),
  signalSequence: nullable(integer),
  notices: list(word(['requested', 'decided'])),
  labels: optional(list(text)),
});

const grant = record<StandingGrant>({
  id: text,
  approvalId: text,
  agent,
  policyRule: text,
  rules: list(text),
  approvers: integer,
  isSelfApproved: flag,
  by: optional(list(terms)),
  notUser: optional(set),
  actionType,
  resource: text,
  coverDigest: ownText,
  covers: text,
  reach,
  runId: nullable(text),
  grantedAt: time,
  grantedBy: actor,
  reason: text,
  expiresAt: time,
  uses: integer,
  lastUsedAt: nullable(time),
  revokedAt: nullable(time),
});

export const approvalChanges: SchemaOf<ApprovalsChange> = {
  approval_saved: { approval },
  grant_saved: { grant },
  approvals_removed: { before: time, kept: integer, most: integer },
};

export const approvalEvents: SchemaOf<ApprovalEvent> = {
  approval: {
    at: time,
    agent,
    change: word(['requested', 'verdict', 'approved', 'rejected', 'expired', 'cancelled']),
    approval,
  },
};
