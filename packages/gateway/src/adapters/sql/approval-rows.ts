import type { Approval, ApprovalQuery, GrantQuery, StandingGrant } from '@reeve/core';
import { boundedApproval, boundedGrant, isLive, mostBytesOfPage, sortedBy } from '@reeve/core';
import type { SqlValue } from './sql-database.ts';
import type { Row } from './sqlite-rows.ts';
import { text } from './sqlite-rows.ts';

/** How approvals are read and written, in SQL that every database takes. */
export const approvalSql = {
  save: `
    INSERT INTO approvals
      (id, state, org_id, team_id, agent_id, run_id, requested_at, expires_at, decided_at, is_live, record)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, decided_at = excluded.decided_at,
        is_live = excluded.is_live, record = excluded.record`,
  saveGrant: `
    INSERT INTO standing_grants (id, org_id, team_id, agent_id, granted_at, ends_at, is_revoked, record)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET ends_at = excluded.ends_at, is_revoked = excluded.is_revoked,
        record = excluded.record`,
  removeOld: `
    DELETE FROM approvals WHERE id IN (
      SELECT id FROM approvals WHERE is_live = 0 AND decided_at < ? ORDER BY decided_at, id LIMIT ?)`,
  removeBeyond: `
    DELETE FROM approvals WHERE id IN (
      SELECT id FROM approvals WHERE is_live = 0 ORDER BY decided_at DESC, id DESC LIMIT ? OFFSET ?)`,
  removeGrants: `
    DELETE FROM standing_grants WHERE id IN (SELECT id FROM standing_grants WHERE ends_at < ? LIMIT ?)`,
  live: 'SELECT record FROM approvals WHERE is_live = 1',
  unrevoked: 'SELECT record FROM standing_grants WHERE is_revoked = 0',
} as const;

export function approvalValues(approval: Approval): SqlValue[] {
  const { id, state, agent, runId, requestedAt, expiresAt, decidedAt } = approval;
  const tenant = [agent.orgId, agent.teamId, agent.agentId];
  const times = [requestedAt, expiresAt, decidedAt ?? 0];
  return [id, state, ...tenant, runId, ...times, isLive(approval) ? 1 : 0, JSON.stringify(approval)];
}

/**
 * One that an older version has written knows one rule only, and not what a grant would cover: it allows none. Whoever
 * stands above all tenants lets it pass a cap, unless that is of an agent.
 */
export function approvalOf(row: Row): Approval {
  const record = JSON.parse(text(row, 'record')) as Pick<Approval, 'cause' | 'policyRule' | 'verdicts'> &
    Partial<Approval>;
  const isRule = record.cause === 'rule';
  const before: Partial<Approval> = {
    rules: isRule ? [record.policyRule] : [],
    isGrantable: false,
    coverDigest: '',
    covers: '',
    approver: isRule || record.policyRule.startsWith('budget/agent.') ? 'team' : 'unbound',
  };
  const verdicts = record.verdicts.map((verdict) => ({ ...verdict, people: verdict.people ?? [] }));
  return boundedApproval({ ...before, ...record, verdicts } as Approval);
}

export function grantValues(grant: StandingGrant): SqlValue[] {
  const { id, agent, grantedAt, expiresAt, revokedAt } = grant;
  const endsAt = Math.min(revokedAt ?? expiresAt, expiresAt);
  const tenant = [agent.orgId, agent.teamId, agent.agentId];
  return [id, ...tenant, grantedAt, endsAt, revokedAt === null ? 0 : 1, JSON.stringify(grant)];
}

/** One that an older version has written does not say all that it covers: it covers nothing. */
export function grantOf(row: Row): StandingGrant {
  const record = JSON.parse(text(row, 'record')) as Pick<StandingGrant, 'resource'> & Partial<StandingGrant>;
  return boundedGrant({
    rules: [],
    approvers: 0,
    coverDigest: '',
    covers: record.resource,
    ...record,
  } as StandingGrant);
}

/** A question with its values. */
export interface Select {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A page of a list, and how long the whole list is. */
export interface ListSelect {
  readonly page: Select;
  readonly total: Select;
}

const columnOf = { expiresAt: 'expires_at', decidedAt: 'decided_at', requestedAt: 'requested_at' } as const;

/** `seat`: the gateway whose approvals they are, where several share a database. */
export function approvalsSelect(query: ApprovalQuery, seat: number | undefined): ListSelect {
  const { state, runId } = query;
  const list = new ListBuilder('approvals', query, seat);
  list.narrow('run_id = ?', runId);
  if (state !== 'all') list.narrow('state = ?', state);
  return list.finish(columnOf[sortedBy(state)], state === 'open' ? 'ascending' : 'descending');
}

export function grantsSelect(query: GrantQuery, seat: number | undefined): ListSelect {
  const { state, now } = query;
  const list = new ListBuilder('standing_grants', query, seat);
  if (state !== 'all') list.narrow('is_revoked = ?', state === 'revoked' ? 1 : 0);
  if (state === 'active') list.narrow('ends_at > ?', now);
  if (state === 'expired') list.narrow('ends_at <= ?', now);
  return list.finish('granted_at', 'descending');
}

class ListBuilder {
  readonly #table: string;
  readonly #query: ApprovalQuery | GrantQuery;
  readonly #conditions: string[] = [];
  readonly #values: SqlValue[] = [];

  constructor(table: string, query: ApprovalQuery | GrantQuery, seat: number | undefined) {
    this.#table = table;
    this.#query = query;
    this.narrow('seat = ?', seat);
    this.narrow('org_id = ?', query.orgId);
    this.narrow('team_id = ?', query.teamId);
    this.narrow('agent_id = ?', query.agentId);
  }

  narrow(condition: string, value: SqlValue | undefined): void {
    if (value === undefined) return;
    this.#conditions.push(condition);
    this.#values.push(value);
  }

  finish(column: string, direction: 'ascending' | 'descending'): ListSelect {
    const total = { sql: `SELECT COUNT(*) AS count FROM ${this.#table}${this.#where()}`, values: [...this.#values] };
    const [order, beyond] = direction === 'ascending' ? ['ASC', '>'] : ['DESC', '<'];
    const { after, limit } = this.#query;
    if (after !== undefined) {
      this.#conditions.push(`(${column} ${beyond} ? OR (${column} = ? AND id ${beyond} ?))`);
      this.#values.push(after.at, after.at, after.id);
    }
    // What would make the page too large is not read: `found` tells that it is there.
    const sql = `WITH page AS (
        SELECT id, ${column} AS place, octet_length(record) AS size FROM ${this.#table}${this.#where()}
          ORDER BY ${column} ${order}, id ${order} LIMIT ?),
      summed AS (SELECT id, place, size, SUM(size) OVER (ORDER BY place ${order}, id ${order}) AS bytes FROM page)
      SELECT record, (SELECT COUNT(*) FROM page) AS found FROM summed JOIN ${this.#table} AS kept ON kept.id = summed.id
        WHERE bytes <= ${mostBytesOfPage} OR bytes = size ORDER BY place ${order}, summed.id ${order}`;
    return { page: { sql, values: [...this.#values, limit] }, total };
  }

  #where(): string {
    return this.#conditions.length === 0 ? '' : ` WHERE ${this.#conditions.join(' AND ')}`;
  }
}
