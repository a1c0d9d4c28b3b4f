import type { ReeveEvent } from '@reeve/contract/events';
import { describe, expect, test } from 'vitest';
import { LiveCounts, withAgent, withAgentEvent, withCounts } from './live-counts.ts';
import type { Overview } from './topology-model.ts';

type OpsChange = Extract<ReeveEvent, { readonly event_type: 'ops_change' }>;
type AgentEvent = Extract<ReeveEvent, { readonly event_type: 'agent' }>;

const ids = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };
const registered = '2026-03-01T12:00:00.000Z';
const later = '2026-03-01T12:00:00.500Z';

function changed(opId: string, state: OpsChange['payload']['state'], at: string): OpsChange {
  const op = { op_id: opId, state, registered_at: registered, updated_at: at, agent: ids };
  return {
    event_type: 'ops_change',
    ...ids,
    payload: { op_id: opId, state, updated_at: at, op },
  } as unknown as OpsChange;
}

function after(...events: readonly OpsChange[]): Record<string, number> {
  const counts = new LiveCounts();
  for (const event of events) counts.note(event);
  return Object.fromEntries(counts.take());
}

describe('counts', () => {
  test('go up once for an operation, however many steps it takes', () => {
    expect(
      after(changed('a', 'pending', registered), changed('a', 'running', registered), changed('a', 'paused', later)),
    ).toEqual({
      'acme/core/bot': 1,
    });
  });

  test('go down when one ends, whether its beginning was seen or not', () => {
    expect(after(changed('old', 'terminated', later))).toEqual({ 'acme/core/bot': -1 });
    expect(after(changed('a', 'running', registered), changed('a', 'terminated', later))).toEqual({});
    expect(after(changed('a', 'running', registered), changed('a', 'completing', later))).toEqual({});
  });

  test('go down once, however an operation ends', () => {
    expect(after(changed('old', 'completing', later), changed('old', 'terminated', later))).toEqual({
      'acme/core/bot': -1,
    });
  });

  test('begin anew with an answer of the gateway', () => {
    const counts = new LiveCounts();
    counts.note(changed('a', 'running', registered));
    counts.forget();
    expect(counts.take().size).toBe(0);
    counts.note(changed('a', 'terminated', later));
    expect(Object.fromEntries(counts.take())).toEqual({ 'acme/core/bot': -1 });
  });

  test('do not change for one that was refused at once, nor for steps of an old one', () => {
    expect(after(changed('a', 'terminated', registered))).toEqual({});
    expect(after(changed('old', 'paused', later), changed('old', 'running', later))).toEqual({});
  });

  test('are handed over once', () => {
    const counts = new LiveCounts();
    counts.note(changed('a', 'running', registered));
    expect(counts.take().size).toBe(1);
    expect(counts.take().size).toBe(0);
  });
});

describe('the overview', () => {
  const one = { ...ids, status: 'active', in_flight: 1 };
  const overview = { agents: [one, { ...one, agent_id: 'other' }] } as unknown as Overview;

  test('takes the counts over and never falls below nothing', () => {
    const [bot, other] = withCounts(overview, new Map([['acme/core/bot', -3]])).agents;
    expect(bot?.in_flight).toBe(0);
    expect(other).toBe(overview.agents[1]);
    expect(withCounts(overview, new Map())).toBe(overview);
  });

  test('has an agent once, however often it registers', () => {
    const again = { ...one, name: 'Renamed' } as Overview['agents'][number];
    const { agents } = withAgent(withAgent(overview, again), { ...again, agent_id: 'new' });
    expect(agents.map(({ agent_id, name }) => [agent_id, name])).toEqual([
      ['other', undefined],
      ['bot', 'Renamed'],
      ['new', 'Renamed'],
    ]);
  });

  test.each([
    ['suspended', ['suspended', 'active']],
    ['resumed', ['active', 'active']],
    ['deregistered', ['active']],
    ['registered', ['active', 'active']],
  ])('after an agent was %s', (change, statuses) => {
    const event = { event_type: 'agent', ...ids, payload: { change } } as unknown as AgentEvent;
    expect(withAgentEvent(overview, event).agents.map(({ status }) => status)).toEqual(statuses);
  });
});
