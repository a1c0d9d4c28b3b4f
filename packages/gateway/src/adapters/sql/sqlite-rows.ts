import type { AgentRecord, ApiKeyRecord, SavedOp, Scope, SigningKeyRecord, StoredEntry, Width } from '@reeve/core';
import { boundedOp, scopes, widths } from '@reeve/core';

/** A row as the driver returns it. */
export type Row = Readonly<Record<string, unknown>>;

type Value = string | number | null;

export function agentValues(agent: AgentRecord): Value[] {
  return [
    agent.id.orgId,
    agent.id.teamId,
    agent.id.agentId,
    agent.tokenHash,
    agent.name,
    agent.framework,
    agent.version,
    agent.parent === null ? null : JSON.stringify(agent.parent),
    JSON.stringify(agent.metadata),
    JSON.stringify(agent.toolNames),
    agent.registeredAt,
    agent.suspension?.at ?? null,
    agent.suspension?.reason ?? null,
    agent.controlled ? 1 : 0,
    agent.registeredWith.length === 0 ? null : agent.registeredWith.join(' '),
    agent.suspension?.width ?? null,
  ];
}

export function agentOf(row: Row): AgentRecord {
  return {
    id: { orgId: text(row, 'org_id'), teamId: text(row, 'team_id'), agentId: text(row, 'agent_id') },
    tokenHash: optionalText(row, 'token_hash'),
    name: text(row, 'name'),
    framework: text(row, 'framework'),
    version: text(row, 'version'),
    parent: JSON.parse(optionalText(row, 'parent') ?? 'null') as AgentRecord['parent'],
    metadata: JSON.parse(text(row, 'metadata')) as AgentRecord['metadata'],
    toolNames: JSON.parse(text(row, 'tool_names')) as AgentRecord['toolNames'],
    registeredAt: number(row, 'registered_at'),
    suspension:
      row['suspended_at'] === null
        ? null
        : {
            at: number(row, 'suspended_at'),
            reason: optionalText(row, 'suspension_reason') ?? '',
            width: widthOf(row, 'suspension_width'),
          },
    controlled: number(row, 'controlled') === 1,
    registeredWith: optionalText(row, 'registered_with')?.split(' ') ?? [],
  };
}

export function apiKeyValues(key: ApiKeyRecord): Value[] {
  return [
    key.id,
    key.hash,
    key.label,
    key.scopes.join(' '),
    key.orgId,
    key.teamId,
    key.createdAt,
    key.expiresAt,
    key.lastUsedAt,
    key.revokedAt,
    key.madeBy?.kind ?? null,
    key.madeBy?.id ?? null,
    key.rotatedFrom,
  ];
}

export function apiKeyOf(row: Row): ApiKeyRecord {
  return {
    id: text(row, 'id'),
    hash: text(row, 'hash'),
    label: text(row, 'label'),
    scopes: text(row, 'scopes').split(' ').filter(isScope),
    orgId: optionalText(row, 'org_id'),
    teamId: optionalText(row, 'team_id'),
    createdAt: number(row, 'created_at'),
    expiresAt: optionalNumber(row, 'expires_at'),
    lastUsedAt: optionalNumber(row, 'last_used_at'),
    revokedAt: optionalNumber(row, 'revoked_at'),
    madeBy: makerOf(row),
    rotatedFrom: optionalText(row, 'rotated_from'),
  };
}

/** What was imposed before widths were noted counts as imposed by an operator: it is not lifted by mistake. */
function widthOf(row: Row, column: string): Width {
  const value = optionalText(row, column);
  return widths.find((width) => width === value) ?? 'unbound';
}

/** Who made a key or an invite. */
export function makerOf(row: Row): ApiKeyRecord['madeBy'] {
  const id = optionalText(row, 'made_by_id');
  if (id === null) return null;
  return { kind: text(row, 'made_by_kind') === 'account' ? 'account' : 'api_key', id };
}

export function signingKeyValues(key: SigningKeyRecord): Value[] {
  return [key.kid, key.privateJwk, key.publicJwk, key.createdAt];
}

export function signingKeyOf(row: Row): SigningKeyRecord {
  return {
    kid: text(row, 'kid'),
    privateJwk: text(row, 'private_jwk'),
    publicJwk: text(row, 'public_jwk'),
    createdAt: number(row, 'created_at'),
  };
}

export function opValues(op: SavedOp): Value[] {
  const { agent, opId, seq, ...record } = op;
  return [agent.orgId, agent.teamId, agent.agentId, opId, seq, JSON.stringify(record)];
}

export function opOf(row: Row): SavedOp {
  return boundedOp({
    // Rows from before there were controls and budgets do not name them.
    controlId: null,
    reservedMicros: 0,
    ...(JSON.parse(text(row, 'record')) as Omit<SavedOp, 'agent' | 'opId' | 'seq' | 'controlId' | 'reservedMicros'>),
    agent: { orgId: text(row, 'org_id'), teamId: text(row, 'team_id'), agentId: text(row, 'agent_id') },
    opId: text(row, 'op_id'),
    seq: number(row, 'seq'),
  });
}

export function entryOf(row: Row): StoredEntry {
  return { seq: number(row, 'seq'), hash: text(row, 'hash'), canonical: text(row, 'canonical') };
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`the column ${column} holds no text`);
  return value;
}

export function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`the column ${column} holds no number`);
  return value;
}

export function optionalText(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function optionalNumber(row: Row, column: string): number | null {
  return row[column] === null ? null : number(row, column);
}

function isScope(value: string): value is Scope {
  return scopes.some((scope) => scope === value);
}
