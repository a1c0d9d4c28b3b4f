import type { Agent } from '@reeve/sdk';
import { afterEach, expect, it, vi } from 'vitest';
import { toolsGoverned } from '../server-spec.ts';
import type { Person } from '../person.ts';
import { callerOf as madeCaller } from './caller.ts';
import { FrontSessions } from './front-sessions.ts';

const anyCaller = (agent: Agent, person?: Person) => madeCaller(agent, new AbortController().signal, person);
/** Nobody is called: a server over HTTP is reached with the first message. */
const spec = { url: new URL('http://127.0.0.1:9/mcp'), headers: {}, ...toolsGoverned };
const idleMs = 60_000;

const callerOf = (orgId: string, agentId: string, person?: Person) =>
  anyCaller({ id: { orgId, teamId: 't', agentId } } as Agent, person);
const sessions = () =>
  new FrontSessions({
    servers: new Map(),
    lock: () => undefined,
    idleMs,
    tokensOf: () => undefined,
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
    const all = Array.from({ length: agents }, (_, at) => callerOf(org, `a${at}`));
    return all.flatMap((caller) => Array.from({ length: each }, () => front.open('s', spec, caller)));
  };
  const count = (list: readonly unknown[]) => list.filter((each) => each !== undefined).length;
  expect(count(opened('one', 1, 120))).toBe(100);
  const ofOne = opened('one', 6, 100);
  expect(count(ofOne)).toBe(300);
  // The org is full. Others are not.
  expect(count(opened('two', 6, 100))).toBe(400);
  expect(count(opened('three', 6, 100))).toBe(200);
  expect(front.open('s', spec, callerOf('four', 'a'))).toBeUndefined();
  const last = ofOne.find((each) => each !== undefined);
  if (last !== undefined) await front.close(last);
  expect(front.open('s', spec, callerOf('four', 'a'))).toBeDefined();
  await front.closeAll();
});

it('bounds servers without sessions by org, too', async () => {
  const front = sessions();
  const made = Array.from({ length: 450 }, (_, at) => front.stateless('s', spec, callerOf('one', `a${at}`)));
  expect(made.filter((each) => each !== undefined)).toHaveLength(400);
  expect(front.stateless('s', spec, callerOf('two', 'a'))).toBeDefined();
  await front.closeAll();
});

it('ends a session that nobody has used for a while, and none that somebody uses', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const front = sessions();
  const caller = callerOf('one', 'a');
  const [used, unused] = [front.open('s', spec, caller), front.open('s', spec, caller)];
  vi.setSystemTime(Date.now() + idleMs - 1000);
  expect(front.find(used?.id ?? '', 's', spec, caller)).toBe(used);
  vi.setSystemTime(Date.now() + 2000);
  front.sweep();
  expect([used?.isOver, unused?.isOver]).toEqual([false, true]);
  expect(front.find(unused?.id ?? '', 's', spec, caller)).toBeUndefined();
  expect(front.find(used?.id ?? '', 's', spec, callerOf('one', 'b'))).toBeUndefined();
});

it('an agent is in use while it has a session, or an exchange without one', async () => {
  const front = sessions();
  const [held, exchanging] = [callerOf('one', 'a'), callerOf('one', 'b')];
  const opened = front.open('s', spec, held);
  const server = front.stateless('s', spec, exchanging);
  // A server that waits for the next exchange needs no agent.
  expect(front.inUse()).toEqual(new Set([held.agent]));
  const exchange = server?.session();
  expect(front.inUse()).toEqual(new Set([held.agent, exchanging.agent]));
  if (opened !== undefined) await front.close(opened);
  expect(front.inUse()).toEqual(new Set([exchanging.agent]));
  if (exchange !== undefined) await server?.ended(exchange);
  expect(front.inUse()).toEqual(new Set());
  await front.closeAll();
});

it('ends no server without sessions while an exchange is under way', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const front = sessions();
  const caller = callerOf('one', 'a');
  const server = front.stateless('s', spec, caller);
  const exchange = server?.session();
  vi.setSystemTime(Date.now() + idleMs * 2);
  front.sweep();
  expect(front.stateless('s', spec, caller)).toBe(server);
  if (exchange !== undefined) await server?.ended(exchange);
  vi.setSystemTime(Date.now() + idleMs * 2);
  front.sweep();
  expect(front.stateless('s', spec, caller)).not.toBe(server);
  await front.closeAll();
});

const person = (issuer: string, subject: string): Person => ({
  issuer,
  subject,
  token: 't',
  idToken: undefined,
  subjectToken: undefined,
});

it('a session belongs to an issuer, a subject and an agent, all three', async () => {
  const front = sessions();
  const agent = { id: { orgId: 'one', teamId: 't', agentId: 'a' } } as Agent;
  const again = { id: { orgId: 'one', teamId: 't', agentId: 'a' } } as Agent;
  const other = { id: { orgId: 'one', teamId: 't', agentId: 'b' } } as Agent;
  const anna = anyCaller(agent, person('https://a', 'anna'));
  const opened = front.open('s', spec, anna);
  const find = (caller: typeof anna) => front.find(opened?.id ?? '', 's', spec, caller);
  // With the next token of the same person, too.
  expect(find(anyCaller(agent, { ...person('https://a', 'anna'), token: 'next' }))).toBe(opened);
  expect(find(anyCaller(agent, person('https://a', 'berta')))).toBeUndefined();
  expect(find(anyCaller(agent, person('https://b', 'anna')))).toBeUndefined();
  expect(find(anyCaller(agent))).toBeUndefined();
  // The agent by another token, which it has renewed.
  expect(find(anyCaller(again, person('https://a', 'anna')))?.caller.agent).toBe(again);
  expect(find(anyCaller(other, person('https://a', 'anna')))).toBeUndefined();
  expect(front.stateless('s', spec, anna)).not.toBe(front.stateless('s', spec, anyCaller(agent)));
  await front.closeAll();
});

it('names of issuer and subject cannot be joined into those of another', () => {
  const agent = { id: { orgId: 'one', teamId: 't', agentId: 'a' } } as Agent;
  const keys = [person('a","b', 'c'), person('a', 'b","c'), person('', ''), undefined].map(
    (each) => anyCaller(agent, each).key,
  );
  expect(new Set(keys).size).toBe(keys.length);
});
