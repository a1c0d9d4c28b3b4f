import type { Width } from '../access/index.ts';
import { isAtLeastAsWide } from '../access/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';
import type { AgentRecord, Suspension } from './agent.ts';
import type { AgentUsage } from './agent-coverage.ts';
import type { Delegation } from './delegation.ts';

/**
 * Each change names only what it changes. The rest of the agent's row stays, because another gateway may have changed
 * it. `agentAfter` is the rule for all stores.
 */
export type AgentChange =
  /** The agent was registered. A stored suspension stays, and `registeredWith` only grows. */
  | { readonly kind: 'agent_saved'; readonly agent: AgentRecord }
  /** The agent opened a control stream with this token. */
  | { readonly kind: 'agent_controlled'; readonly id: AgentId; readonly tokenHash: string }
  /**
   * The agent was suspended, or its suspension widened. The wider of two stays. An agent that has left keeps no token.
   */
  | { readonly kind: 'agent_suspended'; readonly agent: AgentRecord; readonly suspension: Suspension }
  /** A credential of this width resumed the agent. A suspension by a wider one stays. */
  | { readonly kind: 'agent_resumed'; readonly id: AgentId; readonly width: Width }
  /**
   * The agent left. The record of a suspended agent stays without its token, and so does any record if `isKept`. With
   * `keepsOps` its operations, which are over, stay until they are swept.
   */
  | { readonly kind: 'agent_removed'; readonly id: AgentId; readonly isKept: boolean; readonly keepsOps?: true };

/** How an agent uses the gateway. */
export interface AgentUse {
  readonly id: AgentId;
  readonly usage: AgentUsage;
}

export type AgentUseChange =
  | { readonly kind: 'agent_used'; readonly use: AgentUse }
  | { readonly kind: 'agent_uses_removed'; readonly id: AgentId };

/** What a start restores for tenancy. */
export interface TenancySnapshot {
  /** Read one by one while they are restored: there may be a million. */
  readonly agents: Iterable<AgentRecord>;
  readonly agentUses: readonly AgentUse[];
  readonly delegations: readonly Delegation[];
}

/** An agent came, left, was suspended or resumed. */
export interface AgentEvent {
  readonly type: 'agent';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly change: 'registered' | 'deregistered' | 'suspended' | 'resumed';
}

/** A missing kind does not compile. */
const kinds: Readonly<Record<AgentChange['kind'], true>> = {
  agent_saved: true,
  agent_controlled: true,
  agent_suspended: true,
  agent_resumed: true,
  agent_removed: true,
};

export function isAgentChange(change: { readonly kind: string }): change is AgentChange {
  return Object.hasOwn(kinds, change.kind);
}

/** The agent whose row a change is about. */
export function agentOfChange(change: AgentChange): AgentId {
  return 'agent' in change ? change.agent.id : change.id;
}

/**
 * The stored agent after a change; undefined if none. Only suspending and resuming touch the suspension, so that no
 * gateway lifts one that it has not heard of.
 */
export function agentAfter(stored: AgentRecord | undefined, change: AgentChange): AgentRecord | undefined {
  switch (change.kind) {
    case 'agent_saved':
      return {
        ...change.agent,
        suspension: stored?.suspension ?? null,
        registeredWith: [...new Set([...(stored?.registeredWith ?? []), ...change.agent.registeredWith])],
      };
    case 'agent_controlled':
      return stored?.tokenHash === change.tokenHash ? { ...stored, controlled: true } : stored;
    case 'agent_suspended': {
      // The agent left through another gateway: the suspension stays for its return.
      const known = stored ?? { ...withoutToken(change.agent), suspension: null };
      return { ...known, suspension: wider(known.suspension, change.suspension) };
    }
    case 'agent_resumed': {
      const imposed = stored?.suspension?.width;
      return stored !== undefined && imposed !== undefined && isAtLeastAsWide(change.width, imposed)
        ? { ...stored, suspension: null }
        : stored;
    }
    case 'agent_removed':
      return stored !== undefined && (change.isKept || stored.suspension !== null) ? withoutToken(stored) : undefined;
  }
}

/** An agent that has left but is still remembered, without what only a registered one needs. */
export function withoutToken(record: AgentRecord): AgentRecord {
  const { tokenLife: _life, ...rest } = record;
  return { ...rest, tokenHash: null, metadata: {}, toolNames: [], controlled: false };
}

/** The suspension counts from the beginning of the first one. */
function wider(stored: Suspension | null, imposed: Suspension): Suspension {
  if (stored === null) return imposed;
  return isAtLeastAsWide(stored.width, imposed.width) ? stored : { ...imposed, at: stored.at };
}
