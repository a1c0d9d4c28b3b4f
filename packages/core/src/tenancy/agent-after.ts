import { isAtLeastAsWide } from '../access/authority.ts';
import type { AgentChange } from './tenancy-slice.ts';
import type { AgentRecord, Suspension } from './agent.ts';
import type { AgentId } from '../kernel/ids.ts';

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
