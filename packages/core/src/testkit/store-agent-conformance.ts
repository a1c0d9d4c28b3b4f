import { describe, expect, test } from 'vitest';
import type { Width } from '../access/authority.ts';
import type { AgentChange, AgentUse } from '../tenancy/tenancy-slice.ts';
import type { Store } from '../store.ts';
import type { AgentRecord, Suspension } from '../tenancy/agent.ts';
import { unregisteredAgent } from '../tenancy/agent.ts';
import type { Delegation } from '../tenancy/delegation.ts';

/** An agent with every member set. */
export const sampleAgent: AgentRecord & { readonly suspension: Suspension } = {
  id: { orgId: 'acme', teamId: 'search', agentId: 'bot' },
  tokenHash: 'f'.repeat(64),
  name: 'Søren\'s "bot" 🦊',
  framework: 'langgraph',
  version: '1.2.3',
  parent: { orgId: 'acme', teamId: '', agentId: 'boss' },
  metadata: { region: 'eu', '1': 'one', __proto__x: 'odd' },
  toolNames: ['search', 'fetch, then read'],
  registeredAt: 1_700_000_000_123,
  suspension: { at: 1_700_000_001_000, reason: 'line\nbreak', width: 'org' },
  controlled: true,
  registeredWith: ['abcdefghijkl', 'acc_1'],
  tokenLife: {
    ttlSecs: 3600,
    expiresAt: 1_700_003_600_123,
    former: [{ hash: 'd'.repeat(64), until: 1_700_000_060_000 }],
  },
};
export const sampleUse: AgentUse = {
  id: { orgId: 'acme', teamId: 'search', agentId: 'bot' },
  usage: {
    doors: { mcp: { firstAt: 1_700_000_000_000, lastAt: 1_700_000_060_000, names: ['"gitHub" 🦊'] } },
    families: { tools: { firstAt: 1_700_000_000_000, lastAt: 1_700_000_060_000 } },
  },
};
export const sampleDelegation: Delegation = {
  id: sampleAgent.id,
  by: 'boss',
  grantedAt: 1_700_000_000_000,
  expiresAt: 1_700_000_060_000,
  actions: ['tool_call'],
  tools: ['"read" 🦊*'],
  maxCostMicros: 1_000_000,
  maxChecks: 7,
  maxDelegates: 2,
  checks: 3,
  settledMicros: Number.MAX_SAFE_INTEGER,
  endedAt: null,
};
export const bareAgent: AgentRecord = unregisteredAgent({ orgId: '', teamId: '', agentId: 'bot' });

/** The changes that register and suspend an agent. */
export function suspended(agent: AgentRecord & { readonly suspension: Suspension }): AgentChange[] {
  const { suspension } = agent;
  return [
    { kind: 'agent_saved', agent },
    { kind: 'agent_suspended', agent, suspension },
  ];
}

const { id, suspension } = sampleAgent;
const free: AgentRecord = { ...sampleAgent, suspension: null };
/** The agent as seen by a gateway that has not heard of the suspension, nor of the other registrations. */
const stale: AgentRecord = {
  ...free,
  tokenHash: 'e'.repeat(64),
  name: 'again',
  registeredWith: ['mnopqrstuvwx', 'acc_1'],
};
const { tokenLife: _life, ...lasting } = sampleAgent;
const gone: AgentRecord = { ...lasting, tokenHash: null, metadata: {}, toolNames: [], controlled: false };

function imposed(width: Width, reason: string, at = 5): AgentChange {
  return { kind: 'agent_suspended', agent: free, suspension: { at, reason, width } };
}

function resumed(width: Width): AgentChange {
  return { kind: 'agent_resumed', id, width };
}

function removed(isKept: boolean): AgentChange {
  return { kind: 'agent_removed', id, isKept };
}

/** What gateways write about the same agent before they hear of each other. Each change comes from one of them. */
export function agentConformance(opened: () => Store): void {
  /** In batches of their own, as from several gateways, and in one batch. */
  describe.each(['one by one', 'in one batch'])('agents that several gateways change, %s', (how) => {
    const after = async (...changes: readonly AgentChange[]) => {
      const store = opened();
      if (how === 'in one batch') await store.commit({ entries: [], changes });
      else for (const change of changes) await store.commit({ entries: [], changes: [change] });
      return [...(await store.load()).agents];
    };

    test('registering leaves a suspension as it is, and forgets nobody who has registered the agent', async () => {
      const registeredWith = ['abcdefghijkl', 'acc_1', 'mnopqrstuvwx'];
      expect(await after(...suspended(sampleAgent), { kind: 'agent_saved', agent: stale })).toEqual([
        { ...stale, suspension, registeredWith },
      ]);
    });

    test('registering brings back no suspension that was lifted', async () => {
      const changes = [...suspended(sampleAgent), resumed('org'), removed(false)];
      expect(await after(...changes, { kind: 'agent_saved', agent: sampleAgent })).toEqual([free]);
    });

    test('suspending leaves a registration as it is', async () => {
      const suspending: AgentChange = { kind: 'agent_suspended', agent: sampleAgent, suspension };
      expect(await after({ kind: 'agent_saved', agent: stale }, suspending)).toEqual([{ ...stale, suspension }]);
    });

    test('an agent that is suspended when it leaves is remembered without its token', async () => {
      expect(await after(...suspended(sampleAgent), removed(false))).toEqual([gone]);
    });

    test('an agent that has left when it is suspended is remembered without its token', async () => {
      const suspending: AgentChange = { kind: 'agent_suspended', agent: sampleAgent, suspension };
      expect(await after({ kind: 'agent_saved', agent: free }, removed(false), suspending)).toEqual([gone]);
    });

    test('an agent that is to be remembered when it leaves is, without its token', async () => {
      expect(await after({ kind: 'agent_saved', agent: free }, removed(true))).toEqual([{ ...gone, suspension: null }]);
      expect(await after(removed(false))).toEqual([]);
      expect(await after(removed(true))).toEqual([]);
    });

    test('a control stream is noted of the registration that it was opened under, and changes nothing else', async () => {
      const mute = { ...sampleAgent, controlled: false };
      const opening = (tokenHash: string): AgentChange => ({ kind: 'agent_controlled', id, tokenHash });
      expect(await after(...suspended(mute), opening('0'.repeat(64)))).toEqual([mute]);
      expect(await after(opening('f'.repeat(64)))).toEqual([sampleAgent]);
    });

    test('of several suspensions the widest stays, in whatever order, and counts from the first', async () => {
      const first: AgentChange = { kind: 'agent_saved', agent: free };
      const narrow = { at: 5, reason: 'narrow', width: 'team' } as const;
      expect(await after(first, imposed('team', 'narrow'), imposed('team', 'another', 6))).toMatchObject([
        { suspension: narrow },
      ]);
      expect(await after(imposed('unbound', 'wide', 7), imposed('org', 'between', 8))).toMatchObject([
        { suspension: { at: 5, reason: 'wide', width: 'unbound' } },
      ]);
    });

    test('a suspension is lifted by a credential that is at least as wide, and by no other', async () => {
      expect(await after(...suspended(sampleAgent), resumed('team'))).toEqual([sampleAgent]);
      expect(await after(resumed('org'))).toEqual([free]);
      expect(await after(imposed('org', 'again'), resumed('unbound'))).toEqual([free]);
    });
  });
}
