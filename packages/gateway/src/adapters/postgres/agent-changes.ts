import type { AgentChange, AgentRecord } from '@reeve/core';
import { agentOfChange, agentsTable, widths, withoutToken } from '@reeve/core';
import type { SqlValue } from '../sql/sql-database.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';
import { postgresTable } from './tables.ts';

type Of<Kind extends AgentChange['kind']> = Extract<AgentChange, { readonly kind: Kind }>;

/**
 * The changes of agents in one batch. The database merges the rows by the rule of `agentAfter`.
 */
export class AgentChanges {
  readonly #changes = new Map<string, AgentChange>();

  has(change: AgentChange): boolean {
    return this.#changes.has(keyOf(change));
  }

  /** One for each agent, so their order does not count. */
  add(change: AgentChange): void {
    this.#changes.set(keyOf(change), change);
  }

  take(): Statement[] {
    const all = [...this.#changes.values()];
    this.#changes.clear();
    const saved = all.filter((change) => change.kind === 'agent_saved');
    const suspended = all.filter((change) => change.kind === 'agent_suspended');
    const resumed = all.filter((change) => change.kind === 'agent_resumed');
    const controlled = all.filter((change) => change.kind === 'agent_controlled');
    const removed = all.filter((change) => change.kind === 'agent_removed');
    return [
      // Removals come first, because other agents may take the tokens.
      ...(removed.length === 0 ? [] : [leave(removed), remove(removed)]),
      ...(saved.length === 0 ? [] : save(saved)),
      ...(controlled.length === 0 ? [] : [noteControlled(controlled)]),
      ...(suspended.length === 0 ? [] : [suspend(suspended)]),
      ...(resumed.length === 0 ? [] : [resume(resumed)]),
    ];
  }
}

function keyOf(change: AgentChange): string {
  return JSON.stringify(idOf(change));
}

function idOf(change: AgentChange): string[] {
  const { orgId, teamId, agentId } = agentOfChange(change);
  return [orgId, teamId, agentId];
}

function save(changes: readonly Of<'agent_saved'>[]): Statement[] {
  // A suspended row is never removed. So if there is no row, there is no suspension to keep.
  const agents = changes.map(({ agent }) => ({ ...agent, suspension: null }));
  return [freeTokens(agents), postgresTable(agentsTable).save(agents.map(valuesOf))];
}

/** A token belongs to one agent: the one that it was given to last. */
function freeTokens(agents: readonly AgentRecord[]): Statement {
  return {
    name: 'free_tokens',
    text: `UPDATE agents AS a SET token_hash = NULL
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS taken (org_id, team_id, agent_id, token_hash)
      WHERE a.token_hash = taken.token_hash
        AND (a.org_id, a.team_id, a.agent_id) <> (taken.org_id, taken.team_id, taken.agent_id)`,
    values: [
      arrayOf(agents.map(({ id }) => id.orgId)),
      arrayOf(agents.map(({ id }) => id.teamId)),
      arrayOf(agents.map(({ id }) => id.agentId)),
      arrayOf(agents.map(({ tokenHash }) => tokenHash)),
    ],
  };
}

/** A token that another gateway has replaced says nothing about the new registration. */
function noteControlled(changes: readonly Of<'agent_controlled'>[]): Statement {
  return {
    name: 'note_controlled',
    text: `UPDATE agents AS a SET controlled = 1 FROM ${given('token_hash', 'text')}
      WHERE ${isGiven} AND a.token_hash = given.token_hash`,
    values: [...ids(changes), arrayOf(changes.map(({ tokenHash }) => tokenHash))],
  };
}

function suspend(changes: readonly Of<'agent_suspended'>[]): Statement {
  const agents = changes.map(({ agent, suspension }) => ({ ...withoutToken(agent), suspension }));
  const table = postgresTable(agentsTable);
  return {
    name: 'suspend_agents',
    text: `${table.insert} DO UPDATE SET suspended_at = coalesce(agents.suspended_at, excluded.suspended_at),
        suspension_reason = excluded.suspension_reason, suspension_width = excluded.suspension_width
      WHERE agents.suspended_at IS NULL
        OR ${rank('agents.suspension_width')} < ${rank('excluded.suspension_width')}`,
    values: table.arraysOf(agents.map(valuesOf)),
  };
}

function resume(changes: readonly Of<'agent_resumed'>[]): Statement {
  return {
    name: 'resume_agents',
    text: `UPDATE agents AS a SET suspended_at = NULL, suspension_reason = NULL, suspension_width = NULL
      FROM ${given('width', 'text')}
      WHERE ${isGiven} AND ${rank('a.suspension_width')} <= ${rank('given.width')}`,
    values: [...ids(changes), arrayOf(changes.map(({ width }) => width))],
  };
}

/** Keeps the rows of agents that leave but are remembered. */
function leave(changes: readonly Of<'agent_removed'>[]): Statement {
  return {
    name: 'leave_agents',
    text: `UPDATE agents AS a SET token_hash = NULL, token_life = NULL, controlled = 0, metadata = '{}', tool_names = '[]'
      FROM ${given('is_kept', 'bigint')}
      WHERE ${isGiven} AND (given.is_kept = 1 OR a.suspended_at IS NOT NULL)`,
    values: [...ids(changes), kept(changes)],
  };
}

function remove(changes: readonly Of<'agent_removed'>[]): Statement {
  return {
    name: 'remove_agents',
    text: `DELETE FROM agents AS a USING ${given('is_kept', 'bigint')}
      WHERE ${isGiven} AND given.is_kept = 0 AND a.suspended_at IS NULL`,
    values: [...ids(changes), kept(changes)],
  };
}

function valuesOf(agent: AgentRecord): SqlValue[] {
  return postgresTable(agentsTable).valuesOf(agent);
}

const isGiven = `(a.org_id, a.team_id, a.agent_id) = (given.org_id, given.team_id, given.agent_id)`;

/** Agents, each with one value. */
function given(column: string, type: 'text' | 'bigint'): string {
  return `unnest($1::text[], $2::text[], $3::text[], $4::${type}[]) AS given (org_id, team_id, agent_id, ${column})`;
}

function ids(changes: readonly AgentChange[]): string[] {
  return [0, 1, 2].map((index) => arrayOf(changes.map((change) => idOf(change)[index] ?? '')));
}

function kept(changes: readonly Of<'agent_removed'>[]): string {
  return arrayOf(changes.map(({ isKept }) => (isKept ? 1 : 0)));
}

/** An unknown width counts as the widest, as when rows are read. */
function rank(column: string): string {
  const known = widths.map((width) => `'${width}'`).join(', ');
  return `coalesce(array_position(ARRAY[${known}]::text[], ${column}), ${widths.length})`;
}
