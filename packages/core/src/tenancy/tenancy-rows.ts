import type { Width } from '../access/index.ts';
import { widths } from '../access/index.ts';
import type { AgentColumn, Row, Table } from '../journal/index.ts';
import { agentColumns, agentIdOf, flag, integer, numberIn, optionalTextIn, text, textIn } from '../journal/index.ts';
import type { AgentRecord, TokenLife } from './agent.ts';
import type { Delegation } from './delegation.ts';
import type { AgentUse } from './tenancy-slice.ts';

export const agentsTable: Table<AgentRecord, AgentColumn> = {
  name: 'agents',
  key: agentColumns(({ id }) => id),
  columns: {
    token_hash: text((agent) => agent.tokenHash),
    name: text((agent) => agent.name),
    framework: text((agent) => agent.framework),
    version: text((agent) => agent.version),
    parent: text(({ parent }) => (parent === null ? null : JSON.stringify(parent))),
    metadata: text((agent) => JSON.stringify(agent.metadata)),
    tool_names: text((agent) => JSON.stringify(agent.toolNames)),
    registered_at: integer((agent) => agent.registeredAt),
    suspended_at: integer((agent) => agent.suspension?.at ?? null),
    suspension_reason: text((agent) => agent.suspension?.reason ?? null),
    controlled: flag((agent) => agent.controlled),
    registered_with: text(({ registeredWith }) => (registeredWith.length === 0 ? null : registeredWith.join(' '))),
    suspension_width: text((agent) => agent.suspension?.width ?? null),
    token_life: text(({ tokenLife }) => (tokenLife === undefined ? null : JSON.stringify(tokenLife))),
  },
  itemOf: (row) => ({
    id: agentIdOf(row),
    tokenHash: optionalTextIn(row, 'token_hash'),
    ...lifeOf(row),
    name: textIn(row, 'name'),
    framework: textIn(row, 'framework'),
    version: textIn(row, 'version'),
    parent: JSON.parse(optionalTextIn(row, 'parent') ?? 'null') as AgentRecord['parent'],
    metadata: JSON.parse(textIn(row, 'metadata')) as AgentRecord['metadata'],
    toolNames: JSON.parse(textIn(row, 'tool_names')) as AgentRecord['toolNames'],
    registeredAt: numberIn(row, 'registered_at'),
    suspension: suspensionOf(row),
    controlled: numberIn(row, 'controlled') === 1,
    registeredWith: optionalTextIn(row, 'registered_with')?.split(' ') ?? [],
  }),
};

export const agentUsesTable: Table<AgentUse, AgentColumn> = {
  name: 'agent_uses',
  key: agentColumns(({ id }) => id),
  columns: { record: text(({ usage }) => JSON.stringify(usage)) },
  itemOf: (row) => ({ id: agentIdOf(row), usage: JSON.parse(textIn(row, 'record')) as AgentUse['usage'] }),
};

function lifeOf(row: Row): Pick<AgentRecord, 'tokenLife'> {
  const stored = optionalTextIn(row, 'token_life');
  return stored === null ? {} : { tokenLife: JSON.parse(stored) as TokenLife };
}

export const delegationsTable: Table<Delegation, AgentColumn> = {
  name: 'delegations',
  key: agentColumns(({ id }) => id),
  columns: {
    checks: integer(({ checks }) => checks),
    settled_micros: integer(({ settledMicros }) => settledMicros),
    record: text((delegation) =>
      JSON.stringify({ ...delegation, id: undefined, checks: undefined, settledMicros: undefined }),
    ),
  },
  itemOf: (row) => ({
    ...(JSON.parse(textIn(row, 'record')) as Omit<Delegation, 'id' | 'checks' | 'settledMicros'>),
    id: agentIdOf(row),
    checks: numberIn(row, 'checks'),
    settledMicros: numberIn(row, 'settled_micros'),
  }),
};

function suspensionOf(row: Row): AgentRecord['suspension'] {
  if (row['suspended_at'] === null) return null;
  const reason = optionalTextIn(row, 'suspension_reason') ?? '';
  return { at: numberIn(row, 'suspended_at'), reason, width: widthOf(row) };
}

/** A suspension from before widths were stored counts as the operator's, so that nobody lifts it by mistake. */
function widthOf(row: Row): Width {
  const value = optionalTextIn(row, 'suspension_width');
  return widths.find((width) => width === value) ?? 'unbound';
}
