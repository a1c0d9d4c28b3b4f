import type { AgentChange, AgentEvent, AgentRecord, AgentUsage, AgentUseChange } from '../../tenancy/index.ts';
import type { Delegation, DelegationChange, ScopeSuspension, Suspension, TokenLife } from '../../tenancy/index.ts';
import type { SuspensionChange, SuspensionEvent } from '../../tenancy/index.ts';
import type { SchemaOf } from './common.ts';
import { actor, binding, stop, width } from './common.ts';
import { record } from './record.ts';
import {
  agent,
  dictionary,
  flag,
  integer,
  list,
  nullable,
  optional,
  ownText,
  set,
  text,
  time,
  word,
} from './values.ts';

const suspended = record<Suspension>({ at: time, reason: text, width });

const tokenLife = record<TokenLife>({
  ttlSecs: nullable(integer),
  expiresAt: nullable(time),
  former: list(record({ hash: ownText, until: time })),
});

const agentRecord = record<AgentRecord>({
  id: agent,
  tokenHash: nullable(ownText),
  name: text,
  framework: text,
  version: text,
  parent: nullable(agent),
  metadata: dictionary(text),
  toolNames: list(text),
  registeredAt: time,
  suspension: nullable(suspended),
  controlled: flag,
  registeredWith: list(text),
  tokenLife: optional(tokenLife),
});

const door = optional(record({ firstAt: time, lastAt: time, names: list(text) }));
const family = optional(record({ firstAt: time, lastAt: time }));

const usage = record<AgentUsage>({
  doors: record<AgentUsage['doors']>({ sdk: door, mcp: door, model: door, hook: door }),
  families: record<AgentUsage['families']>({ tools: family, model_calls: family }),
});

const delegation = record<Delegation>({
  id: agent,
  by: text,
  grantedAt: time,
  expiresAt: time,
  actions: list(text),
  tools: list(text),
  maxCostMicros: nullable(integer),
  maxChecks: nullable(integer),
  checks: integer,
  settledMicros: integer,
  endedAt: nullable(time),
  maxDelegates: optional(integer),
});

const suspension = record<ScopeSuspension>({
  id: text,
  orgId: nullable(text),
  teamId: nullable(text),
  action: stop,
  actor,
  credentialId: text,
  imposedBy: binding,
  reason: text,
  since: time,
  operations: record({ matched: integer, changed: integer, skipped: integer, controlId: text }),
  isSettled: flag,
  lifted: nullable(record({ actor, imposedBy: binding, reason: text, at: time })),
});

export const tenancyChanges: SchemaOf<AgentChange | AgentUseChange | DelegationChange | SuspensionChange> = {
  agent_saved: { agent: agentRecord },
  agent_controlled: { id: agent, tokenHash: ownText },
  agent_suspended: { agent: agentRecord, suspension: suspended },
  agent_resumed: { id: agent, width },
  agent_removed: { id: agent, isKept: flag, keepsOps: optional(set) },
  agent_used: { use: record({ id: agent, usage }) },
  agent_uses_removed: { id: agent },
  delegation_saved: { delegation },
  delegation_used: { delegation },
  delegation_ended: { delegation, reason: text },
  delegation_removed: { id: agent },
  suspension_saved: { suspension },
  suspension_removed: { suspension },
};

export const tenancyEvents: SchemaOf<AgentEvent | SuspensionEvent> = {
  agent: { at: time, agent, change: word(['registered', 'deregistered', 'suspended', 'resumed']) },
  suspension: { at: time, change: word(['suspended', 'resumed']), suspension },
};
