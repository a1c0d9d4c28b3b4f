import type { Width } from '../access/authority.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { EpochMs } from '../kernel/clock.ts';
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
