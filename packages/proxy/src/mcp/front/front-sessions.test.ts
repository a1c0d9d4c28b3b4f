import type { Agent } from '@reeve/sdk';
import { afterEach, expect, it, vi } from 'vitest';
import { freeOfCharge } from '../govern/costs.ts';
import { FrontSessions } from './front-sessions.ts';

/** Nobody is called: a server over HTTP is reached with the first message. */
const spec = { url: new URL('http://127.0.0.1:9/mcp'), headers: {}, costs: freeOfCharge };
const idleMs = 60_000;

const agentOf = (orgId: string, agentId: string) => ({ id: { orgId, teamId: 't', agentId } }) as Agent;
const sessions = () =>
  new FrontSessions({
    servers: new Map(),
    lock: () => undefined,
    idleMs,
    approvalWaitMs: 0,
    showDenied: false,
    failOpen: false,
    warn: () => {},
  });

afterEach(() => {
  vi.useRealTimers();
});

it('bounds the sessions of an agent, of an org and of all, and has room again when one ends', async () => {
  const front = sessions();
  const opened = (org: string, agents: number, each: number) => {
    const all = Array.from({ length: agents }, (_, at) => agentOf(org, `a${at}`));
    return all.flatMap((agent) => Array.from({ length: each }, () => front.open('s', spec, agent)));
  };
  const count = (list: readonly unknown[]) => list.filter((each) => each !== undefined).length;
  expect(count(opened('one', 1, 120))).toBe(100);
  const ofOne = opened('one', 6, 100);
  expect(count(ofOne)).toBe(300);
  // The org is full. Others are not.
  expect(count(opened('two', 6, 100))).toBe(400);
  expect(count(opened('three', 6, 100))).toBe(200);
  expect(front.open('s', spec, agentOf('four', 'a'))).toBeUndefined();
  const last = ofOne.find((each) => each !== undefined);
  if (last !== undefined) await front.close(last);
  expect(front.open('s', spec, agentOf('four', 'a'))).toBeDefined();
  await front.closeAll();
});

it('bounds servers without sessions by org, too', async () => {
  const front = sessions();
  const made = Array.from({ length: 450 }, (_, at) => front.stateless('s', spec, agentOf('one', `a${at}`)));
  expect(made.filter((each) => each !== undefined)).toHaveLength(400);
  expect(front.stateless('s', spec, agentOf('two', 'a'))).toBeDefined();
  await front.closeAll();
});

it('ends a session that nobody has used for a while, and none that somebody uses', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const front = sessions();
  const agent = agentOf('one', 'a');
  const [used, unused] = [front.open('s', spec, agent), front.open('s', spec, agent)];
  vi.setSystemTime(Date.now() + idleMs - 1000);
  expect(front.find(used?.id ?? '', 's', agent)).toBe(used);
  vi.setSystemTime(Date.now() + 2000);
  front.sweep();
  expect([used?.isOver, unused?.isOver]).toEqual([false, true]);
  expect(front.find(unused?.id ?? '', 's', agent)).toBeUndefined();
  expect(front.find(used?.id ?? '', 's', agentOf('one', 'b'))).toBeUndefined();
});

it('an agent is in use while it has a session, or an exchange without one', async () => {
  const front = sessions();
  const [held, exchanging] = [agentOf('one', 'a'), agentOf('one', 'b')];
  const opened = front.open('s', spec, held);
  const server = front.stateless('s', spec, exchanging);
  // A server that waits for the next exchange needs no agent.
  expect(front.inUse()).toEqual(new Set([held]));
  const exchange = server?.session();
  expect(front.inUse()).toEqual(new Set([held, exchanging]));
  if (opened !== undefined) await front.close(opened);
  expect(front.inUse()).toEqual(new Set([exchanging]));
  if (exchange !== undefined) await server?.ended(exchange);
  expect(front.inUse()).toEqual(new Set());
  await front.closeAll();
});

it('ends no server without sessions while an exchange is under way', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const front = sessions();
  const agent = agentOf('one', 'a');
  const server = front.stateless('s', spec, agent);
  const exchange = server?.session();
  vi.setSystemTime(Date.now() + idleMs * 2);
  front.sweep();
  expect(front.stateless('s', spec, agent)).toBe(server);
  if (exchange !== undefined) await server?.ended(exchange);
  vi.setSystemTime(Date.now() + idleMs * 2);
  front.sweep();
  expect(front.stateless('s', spec, agent)).not.toBe(server);
  await front.closeAll();
});
