import type { Agent, Reeve } from '@reeve/sdk';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AgentsByToken } from './agents-by-token.ts';

const idleMs = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A gateway that knows every token, and who of the agents was said good-bye to. */
function gateway() {
  const closed: string[] = [];
  const revoke = new Map<string, () => void>();
  const agent = async ({ token, onRevoked }: { readonly token: string; readonly onRevoked: () => void }) => {
    revoke.set(token, onRevoked);
    return { id: { agentId: token }, close: async () => void closed.push(token) } as unknown as Agent;
  };
  return { closed, revoke, reeve: { agent } as unknown as Reeve };
}

it('says good-bye to an agent that nobody has used for a while, and knows it anew afterwards', async () => {
  const { reeve, closed } = gateway();
  const agents = new AgentsByToken(reeve, { mostIdle: 10, idleMs });
  const known = agents.find('unused');
  const before = await known.agent;
  await agents.find('used').agent;
  await vi.advanceTimersByTimeAsync(idleMs * 0.75);
  await agents.find('used').agent;
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(idleMs * 0.75);
  expect(closed).toEqual(['unused']);
  expect(known.revoked.aborted).toBe(true);
  expect(await agents.find('unused').agent).not.toBe(before);
  await agents.close();
});

it('keeps an agent that has calls under way, however long they take', async () => {
  const { reeve, closed } = gateway();
  const agents = new AgentsByToken(reeve, { mostIdle: 10, idleMs });
  const known = agents.find('busy');
  await known.agent;
  known.calls++;
  await vi.advanceTimersByTimeAsync(idleMs * 10);
  expect(closed).toEqual([]);
  known.calls--;
  await vi.advanceTimersByTimeAsync(idleMs);
  expect(closed).toEqual(['busy']);
  await agents.close();
});

it('keeps an agent that is in use apart from its calls, until it no longer is', async () => {
  const { reeve, closed } = gateway();
  const inUse = new Set<Agent>();
  const agents = new AgentsByToken(reeve, { mostIdle: 10, idleMs, inUse: () => inUse });
  const agent = await agents.find('in a session').agent;
  await agents.find('without').agent;
  inUse.add(agent);
  await vi.advanceTimersByTimeAsync(idleMs * 10);
  expect(closed).toEqual(['without']);
  expect(await agents.find('in a session').agent).toBe(agent);
  inUse.clear();
  await vi.advanceTimersByTimeAsync(idleMs * 2);
  expect(closed).toEqual(['without', 'in a session']);
  await agents.close();
});

it('keeps no more idle agents than it has room for: those used last, and all that are in use', async () => {
  const { reeve, closed } = gateway();
  const inUse = new Set<Agent>();
  const agents = new AgentsByToken(reeve, { mostIdle: 2, idleMs, inUse: () => inUse });
  inUse.add(await agents.find('in use').agent);
  for (const token of ['one', 'two', 'one', 'three']) await agents.find(token).agent;
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).toEqual(['two']);
  await agents.find('four').agent;
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).toEqual(['two', 'one']);
  await agents.close();
  expect(new Set(closed)).toEqual(new Set(['in use', 'one', 'two', 'three', 'four']));
});

it('says that a token was revoked, also to those who use it', async () => {
  const { reeve, revoke, closed } = gateway();
  const agents = new AgentsByToken(reeve, { mostIdle: 10, idleMs });
  const known = agents.find('revoked');
  await known.agent;
  known.calls++;
  revoke.get('revoked')?.();
  expect(known.revoked.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).toEqual(['revoked']);
  await agents.close();
});
