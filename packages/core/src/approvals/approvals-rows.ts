import type { Row, Table } from '../journal/index.ts';
import { agentColumns, fixed, flag, integer, text, textIn } from '../journal/index.ts';
import type { Approval } from './approval.ts';
import { decidersOf, isLive } from './approval.ts';
import { boundedApproval, boundedGrant } from './approvals-slice.ts';
import type { StandingGrant } from './grant.ts';

/** `record` holds the whole item. The other columns serve queries. */
export const approvalsTable: Table<Approval, 'id'> = {
  name: 'approvals',
  key: { id: text(({ id }) => id) },
  columns: {
    state: text((approval) => approval.state),
    ...agentColumns(({ agent }) => agent),
    run_id: fixed(text((approval) => approval.runId)),
    requested_at: fixed(integer((approval) => approval.requestedAt)),
    expires_at: fixed(integer((approval) => approval.expiresAt)),
    decided_at: integer((approval) => approval.decidedAt ?? 0),
    is_live: flag(isLive),
    deciders: text(decidersOf),
    record: text((approval) => JSON.stringify(approval)),
  },
  itemOf: approvalOf,
};

export const grantsTable: Table<StandingGrant, 'id'> = {
  name: 'standing_grants',
  key: { id: text(({ id }) => id) },
  columns: {
    ...agentColumns(({ agent }) => agent),
    granted_at: fixed(integer((grant) => grant.grantedAt)),
    ends_at: integer(({ revokedAt, expiresAt }) => Math.min(revokedAt ?? expiresAt, expiresAt)),
    is_revoked: flag(({ revokedAt }) => revokedAt !== null),
    record: text((grant) => JSON.stringify(grant)),
  },
  itemOf: grantOf,
};

/**
 * An approval of an older version knows only one rule, and not what a grant would cover, so it allows no grant. Only an
 * unbound credential lets its charge pass a cap, unless the cap is an agent's.
 */
function approvalOf(row: Row): Approval {
  const record = JSON.parse(textIn(row, 'record')) as Pick<Approval, 'cause' | 'policyRule' | 'verdicts'> &
    Partial<Approval>;
  const isRule = record.cause === 'rule';
  const before: Partial<Approval> = {
    rules: isRule ? [record.policyRule] : [],
    isGrantable: false,
    allowsSelf: true,
    coverDigest: '',
    covers: '',
    user: null,
    approver: isRule || record.policyRule.startsWith('budget/agent.') ? 'team' : 'unbound',
  };
  const verdicts = record.verdicts.map((verdict) => ({
    ...verdict,
    people: verdict.people ?? [],
    isSelfApproved: verdict.isSelfApproved ?? false,
  }));
  return boundedApproval({ ...before, ...record, verdicts } as Approval);
}

/** A grant of an older version does not say all that it covers, so it covers nothing. */
function grantOf(row: Row): StandingGrant {
  const record = JSON.parse(textIn(row, 'record')) as Pick<StandingGrant, 'resource'> & Partial<StandingGrant>;
  return boundedGrant({
    rules: [],
    approvers: 0,
    isSelfApproved: false,
    coverDigest: '',
    covers: record.resource,
    ...record,
  } as StandingGrant);
}
