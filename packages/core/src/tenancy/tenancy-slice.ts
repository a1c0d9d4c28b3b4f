import type { Width } from '../access/index.ts';
import { isAtLeastAsWide } from '../access/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';
import type { AgentRecord, Suspension } from './agent.ts';

/**
 * Each says only what it is about, and the rest of the agent's row stays: another gateway may have changed that, and this
 * one not know it yet. `agentAfter` is the rule for all stores.
 */
export type AgentChange =
  /** It was registered. A suspension is left as it is stored, and `registeredWith` only grows. */
  | { readonly kind: 'agent_saved'; readonly agent: AgentRecord }
  /** It has opened a control stream with this token. */
  | { readonly kind: 'agent_controlled'; readonly id: AgentId; readonly tokenHash: string }
  /** It was suspended, or its suspension widened. Of two, the wider one stays. An agent that has left leaves no token. */
  | { readonly kind: 'agent_suspended'; readonly agent: AgentRecord; readonly suspension: Suspension }
  /** A credential of this width has resumed it: what a wider one has imposed stays. */
  | { readonly kind: 'agent_resumed'; readonly id: AgentId; readonly width: Width }
  /** It has left. What is known of one that is suspended stays without a token, and so it does where `isKept`. */
  | { readonly kind: 'agent_removed'; readonly id: AgentId; readonly isKept: boolean };

/** What a start brings back of tenancy. */
export interface TenancySnapshot {
  readonly agents: readonly AgentRecord[];
}

/** An agent has come, left, or was suspended or resumed. */
export interface AgentEvent {
  readonly type: 'agent';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly change: 'registered' | 'deregistered' | 'suspended' | 'resumed';
}

/** Each kind is here, or this does not compile. */
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

/** Whose row a change is about. */
export function agentOfChange(change: AgentChange): AgentId {
  return 'agent' in change ? change.agent.id : change.id;
}

/**
 * What is stored of an agent after a change; undefined: nothing. Only suspending and resuming touch the suspension, so
 * that no gateway lifts one that it has not heard of.
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
      // It has left elsewhere: the suspension is kept for when it comes back.
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

/** An agent that has left, of which something is remembered. */
export function withoutToken(record: AgentRecord): AgentRecord {
  return { ...record, tokenHash: null, controlled: false };
}

/** It counts from when the first of them began. */
function wider(stored: Suspension | null, imposed: Suspension): Suspension {
  if (stored === null) return imposed;
  return isAtLeastAsWide(stored.width, imposed.width) ? stored : { ...imposed, at: stored.at };
}
